"""Reports and pages as text, JSON and, one day, more: functions of their values alone."""
