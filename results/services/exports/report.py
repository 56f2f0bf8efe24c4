"""The agreement report as a document."""

from collections.abc import Iterator

from results.services.exports.kinds import ExportRefused, ExportRequest
from results.services.exports.manifest import Manifest
from results.services.exports.selection import describe_queries


def report_lines(request: ExportRequest, manifest: Manifest) -> Iterator[str]:
    """The stored report in Markdown; the manifest has the counts of the consensus beside it.

    Raises ExportRefused where no report has been computed yet.
    """
    # Of all the kinds only this one needs the reports.
    from results.services.reports import NoReport, render_markdown

    describe_queries(request, manifest)
    try:
        text = render_markdown(request.study)
    except NoReport as missing:
        raise ExportRefused(str(missing)) from missing
    yield from text.splitlines(keepends=True)
