"""Questions to a running cluster: a session with one broker, its properties, and the brokers that it names."""
