// sarama: ADDRESS TOPIC COUNT IN_TRANSACTION makes a topic, sends COUNT records and then IN_TRANSACTION more in a transaction, reads them in a group,
// and prints the brokers that it was shown, how many records came, and whether they came in order, as JSON. Variables: KAFKA_CA, KAFKA_CERT and
// KAFKA_KEY are PEM files for TLS; KAFKA_MECHANISM, KAFKA_USER and KAFKA_PASSWORD for SASL.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

type scramClient struct {
	*scram.Client
	*scram.ClientConversation
}

func (c *scramClient) Begin(user, password, authzID string) (err error) {
	if c.Client, err = scram.SHA256.NewClient(user, password, authzID); err == nil {
		c.ClientConversation = c.Client.NewConversation()
	}
	return err
}
func (c *scramClient) Step(challenge string) (string, error) { return c.ClientConversation.Step(challenge) }
func (c *scramClient) Done() bool                            { return c.ClientConversation.Done() }

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func settings() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.V3_6_0_0
	config.ClientID = "sarama"
	config.Producer.Return.Successes = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Flush.Frequency = 5 * time.Millisecond
	config.Net.MaxOpenRequests = 1
	// a broker may hear of a new topic long after the controller's answer, on a machine that is busy
	config.Metadata.Retry.Max, config.Producer.Retry.Max = 60, 60
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.IsolationLevel = sarama.ReadCommitted
	if ca := os.Getenv("KAFKA_CA"); ca != "" {
		config.Net.TLS.Enable = true
		config.Net.TLS.Config = &tls.Config{RootCAs: x509.NewCertPool()}
		config.Net.TLS.Config.RootCAs.AppendCertsFromPEM(must(os.ReadFile(ca)))
		if cert := os.Getenv("KAFKA_CERT"); cert != "" {
			config.Net.TLS.Config.Certificates = []tls.Certificate{must(tls.LoadX509KeyPair(cert, os.Getenv("KAFKA_KEY")))}
		}
	}
	if mechanism := os.Getenv("KAFKA_MECHANISM"); mechanism != "" {
		config.Net.SASL.Enable = true
		config.Net.SASL.Mechanism = sarama.SASLMechanism(mechanism)
		config.Net.SASL.User, config.Net.SASL.Password = os.Getenv("KAFKA_USER"), os.Getenv("KAFKA_PASSWORD")
		config.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &scramClient{} }
	}
	return config
}

func send(producer sarama.AsyncProducer, topic string, first, end int) {
	go func() {
		for i := first; i < end; i++ {
			producer.Input() <- &sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder(fmt.Sprintf("record %d", i))}
		}
	}()
	for i := first; i < end; i++ {
		select {
		case <-producer.Successes():
		case err := <-producer.Errors():
			must(0, err)
		}
	}
}

type handler struct {
	count   int
	came    *int
	inOrder *bool
	stop    context.CancelFunc
}

func (handler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (h handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		*h.inOrder = *h.inOrder && string(message.Value) == fmt.Sprintf("record %d", *h.came)
		*h.came++
		session.MarkMessage(message, "")
		if *h.came == h.count {
			session.Commit()
			h.stop()
		}
	}
	return nil
}

func main() {
	address, topic := os.Args[1], os.Args[2]
	count, inTransaction := must(strconv.Atoi(os.Args[3])), must(strconv.Atoi(os.Args[4]))
	admin := must(sarama.NewClusterAdmin([]string{address}, settings()))
	must(0, admin.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: 1, ReplicationFactor: 1}, false))
	shown := []string{}
	brokers, _, err := admin.DescribeCluster()
	for _, broker := range must(brokers, err) {
		shown = append(shown, broker.Addr())
	}
	producer := must(sarama.NewAsyncProducer([]string{address}, settings()))
	send(producer, topic, 0, count)
	must(0, producer.Close())
	config := settings()
	config.Producer.Idempotent = true
	config.Producer.Transaction.ID = topic
	producer = must(sarama.NewAsyncProducer([]string{address}, config))
	must(0, producer.BeginTxn())
	send(producer, topic, count, count+inTransaction)
	must(0, producer.CommitTxn())
	must(0, producer.Close())
	group := must(sarama.NewConsumerGroup([]string{address}, topic, settings()))
	waiting, stop := context.WithTimeout(context.Background(), 60*time.Second)
	came, inOrder := 0, true
	for waiting.Err() == nil {
		must(0, group.Consume(waiting, []string{topic}, handler{count + inTransaction, &came, &inOrder, stop}))
	}
	must(0, group.Close())
	groups := must(admin.ListConsumerGroups())
	if _, known := groups[topic]; !known {
		inOrder = false
	}
	must(0, admin.DeleteTopic(topic))
	text, _ := json.Marshal(map[string]any{"brokers": shown, "came": came, "in_order": inOrder})
	fmt.Println(string(text))
}
