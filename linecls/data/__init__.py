"""Building labelled records by program: real tool outputs whose answers are known by construction."""
