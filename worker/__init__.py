"""The workers' side of the service: settings, the store, Celery tickets and what a worker does."""
