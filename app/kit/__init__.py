"""Code that all pages share; it knows no page."""
