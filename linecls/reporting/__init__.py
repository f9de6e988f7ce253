"""A `linecls.evaluation.Report` as text, Markdown, one HTML page, plots and side-by-side views."""
