"""A bare Django judging step, on the same server and database as the product's: what the judging
benchmark compares with. Session, CSRF, one transaction with an insert and a claim, a rendered
fragment; nothing of what makes the product worth having."""
