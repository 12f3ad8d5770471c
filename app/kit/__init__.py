"""What all pages share; it knows no page."""
