"""The agreement report as a document."""

from collections.abc import Iterator

from results.services.exports.kinds import ExportRequest
from results.services.exports.manifest import Manifest
from results.services.exports.selection import describe_queries


def report_lines(request: ExportRequest, manifest: Manifest) -> Iterator[str]:
    """The report in Markdown, with the counts of the consensus beside it in the manifest."""
    # Only this kind needs the numbers behind the report.
    from results.services.reports import render_markdown

    describe_queries(request, manifest)
    yield from render_markdown(request.study).splitlines(keepends=True)
