"""Parts of pages: frame, filter rail, tables, menus. They take values and return components."""
