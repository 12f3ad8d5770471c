"""What people see: pages, figures, exports."""
