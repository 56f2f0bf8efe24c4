"""What happens when somebody judges."""
