"""What is HTTP: addresses, checks of requests, responses, the server and its process."""
