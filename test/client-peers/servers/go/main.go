// Program main is the official Go SDK as a server on all bindings, set up as its documentation does.
package main

import (
	"context"
	"fmt"
	"iter"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"google.golang.org/grpc"
)

// player does what play.mjs does.
type player struct {
	mutex sync.Mutex
	gates map[string]chan struct{}
}

func (one *player) gate(name string) chan struct{} {
	one.mutex.Lock()
	defer one.mutex.Unlock()
	if one.gates[name] == nil {
		one.gates[name] = make(chan struct{})
	}
	return one.gates[name]
}

func textOf(parts a2a.ContentParts) string {
	texts := make([]string, 0, len(parts))
	for _, part := range parts {
		texts = append(texts, part.Text())
	}
	return strings.Join(texts, "")
}

// stage has the events of one message in the terms of this SDK. Each method is false once no further event is taken.
type stage struct {
	call  *a2asrv.ExecutorContext
	yield func(a2a.Event, error) bool
}

func (on stage) begin() bool {
	return on.yield(a2a.NewSubmittedTask(on.call, on.call.Message), nil)
}

func (on stage) status(state a2a.TaskState, words string) bool {
	var message *a2a.Message
	if words != "" {
		message = a2a.NewMessageForTask(a2a.MessageRoleAgent, on.call, a2a.NewTextPart(words))
	}
	return on.yield(a2a.NewStatusUpdateEvent(on.call, state, message), nil)
}

func (on stage) artifact(words string, isFirst bool, isLast bool) bool {
	event := a2a.NewArtifactUpdateEvent(on.call, "result", a2a.NewTextPart(words))
	event.Artifact.Name = "result"
	event.Append = !isFirst
	event.LastChunk = isLast
	return on.yield(event, nil)
}

func (on stage) reply(words string) {
	message := a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(words))
	message.ContextID = on.call.ContextID
	on.yield(message, nil)
}

func (one *player) Execute(ctx context.Context, call *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		one.play(ctx, stage{call, yield})
	}
}

func (one *player) play(ctx context.Context, on stage) {
	text := textOf(on.call.Message.Parts)
	if on.call.StoredTask != nil {
		_ = on.status(a2a.TaskStateWorking, "") && on.artifact(text, true, true) &&
			on.status(a2a.TaskStateCompleted, "Thank you")
		return
	}
	words := strings.Split(text, " ")
	switch words[0] {
	case "task":
		_ = on.begin() && on.status(a2a.TaskStateWorking, "On it") &&
			on.artifact(strings.Join(words[1:], " "), true, true) && on.status(a2a.TaskStateCompleted, "")
	case "chunks":
		count, _ := strconv.Atoi(words[2])
		isTaken := on.begin() && on.status(a2a.TaskStateWorking, "")
		for number := 1; isTaken && number <= count; number++ {
			// Each chunk after the first waits until the test has seen the previous one.
			if number > 1 {
				select {
				case <-one.gate(fmt.Sprintf("%s-%d", words[1], number)):
				case <-ctx.Done():
					return
				}
			}
			isTaken = on.artifact(fmt.Sprintf("chunk %d ", number), number == 1, number == count)
		}
		_ = isTaken && on.status(a2a.TaskStateCompleted, "")
	case "saw":
		close(one.gate(words[1]))
		on.reply("noted")
	case "ask":
		_ = on.begin() && on.status(a2a.TaskStateInputRequired, "What else?")
	case "wait":
		if on.begin() && on.status(a2a.TaskStateWorking, "") {
			<-ctx.Done()
		}
	case "fail":
		_ = on.begin() && on.status(a2a.TaskStateFailed, "It could not be done")
	default:
		on.reply("Echo: " + text)
	}
}

func (one *player) Cancel(_ context.Context, call *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		stage{call, yield}.status(a2a.TaskStateCanceled, "")
	}
}

func main() {
	address := "127.0.0.1:" + os.Getenv("PORT")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	url := "http://" + address
	card := &a2a.AgentCard{
		Name:        "Go peer",
		Description: "An agent on the official SDK",
		Version:     "1.0.0",
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(url+"/jsonrpc", a2a.TransportProtocolJSONRPC),
			a2a.NewAgentInterface(url+"/rest", a2a.TransportProtocolHTTPJSON),
			a2a.NewAgentInterface(listener.Addr().String(), a2a.TransportProtocolGRPC),
		},
		Capabilities:       a2a.AgentCapabilities{Streaming: true, PushNotifications: true, ExtendedAgentCard: true},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Skills:             []a2a.AgentSkill{{ID: "play", Name: "Play", Description: "Plays a part", Tags: []string{"test"}}},
	}
	extended := *card
	extended.Description = "For those who ask"
	// The store lists the tasks of users with a name only.
	anyone := func(context.Context) (string, error) { return "anyone", nil }
	handler := a2asrv.NewHandler(
		&player{gates: map[string]chan struct{}{}},
		a2asrv.WithLogger(slog.New(slog.DiscardHandler)),
		a2asrv.WithExtendedAgentCard(&extended),
		a2asrv.WithTaskStore(taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: anyone})),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(&push.HTTPSenderConfig{AllowPrivateNetworks: true})),
	)
	server := grpc.NewServer()
	a2agrpc.NewHandler(handler).RegisterWith(server)
	go func() { log.Fatal(server.Serve(listener)) }()

	mux := http.NewServeMux()
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	mux.Handle("/jsonrpc", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle("/rest/", http.StripPrefix("/rest", a2asrv.NewRESTHandler(handler)))
	listening, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready")
	log.Fatal(http.Serve(listening, mux))
}
