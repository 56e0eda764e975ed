import NIOCore
import NIOHTTP1
import Testing

@testable import HearthHTTP

/// The connection state machine.
@Suite struct HTTP1ConnectionStateTests {
    private static func head(
        _ method: HTTPMethod = .GET,
        _ version: HTTPVersion = .http1_1,
        _ fields: HTTPHeaders = [:]
    ) -> HTTPRequestHead {
        HTTPRequestHead(version: version, method: method, uri: "/", headers: fields)
    }

    private static func response(
        _ status: HTTPResponseStatus = .ok,
        _ fields: HTTPHeaders = ["content-length": "0"]
    ) -> HTTPResponseHead {
        HTTPResponseHead(version: .http1_1, status: status, headers: fields)
    }

    struct Exchange: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: HTTPRequestHead
        var isRead = true
        var response = HTTP1ConnectionStateTests.response()
        let connection: String?
        let action: HTTP1ConnectionState.ResponseAction
    }

    @Test(arguments: exchanges)
    func `A connection stays open or closes after an exchange`(_ exchange: Exchange) {
        var state = HTTP1ConnectionState(maximumBodyBytes: 100)
        #expect(state.receive(exchange.request) == .forward)
        if exchange.isRead { #expect(state.receiveEnd() == .forward) }
        var response = exchange.response
        state.send(&response)
        #expect(response.version == exchange.request.version)
        #expect(response.headers.first(name: "connection") == exchange.connection)
        #expect(state.sendsBody == (exchange.request.method != .HEAD))
        #expect(state.sendEnd() == exchange.action)
        #expect(state.isClosing == (exchange.action != .keepOpen))
        #expect(state.receive(Self.head()) == (exchange.action == .keepOpen ? .forward : .drop))
    }

    static let exchanges = [
        Exchange(testDescription: "1.1", request: head(), connection: nil, action: .keepOpen),
        Exchange(testDescription: "HEAD", request: head(.HEAD), connection: nil, action: .keepOpen),
        Exchange(
            testDescription: "1.1, close",
            request: head(.GET, .http1_1, ["connection": "close"]),
            connection: "close",
            action: .close
        ),
        Exchange(testDescription: "1.0", request: head(.GET, .http1_0), connection: "close", action: .close),
        Exchange(
            testDescription: "1.0, keep-alive",
            request: head(.GET, .http1_0, ["connection": "keep-alive"]),
            connection: "keep-alive",
            action: .keepOpen
        ),
        Exchange(
            testDescription: "1.0, keep-alive, without length",
            request: head(.GET, .http1_0, ["connection": "keep-alive"]),
            response: response(.ok, [:]),
            connection: "close",
            action: .close
        ),
        Exchange(
            testDescription: "1.0, keep-alive, without body",
            request: head(.GET, .http1_0, ["connection": "keep-alive"]),
            response: response(.noContent, [:]),
            connection: "keep-alive",
            action: .keepOpen
        ),
        Exchange(testDescription: "body not read", request: head(.POST), isRead: false, connection: "close", action: .close),
        Exchange(
            testDescription: "the response closes",
            request: head(),
            response: response(.ok, ["connection": "close"]),
            connection: "close",
            action: .close
        ),
        Exchange(
            testDescription: "the response is chunked",
            request: head(),
            response: response(.ok, [:]),
            connection: nil,
            action: .keepOpen
        ),
    ]

    @Test(
        arguments: [["content-length": "0"], [:]] as [HTTPHeaders]
    )
    func `A half-closed connection gets its response, but a streaming response ends`(fields: HTTPHeaders) {
        var state = HTTP1ConnectionState(maximumBodyBytes: 100)
        _ = state.receive(Self.head())
        _ = state.receiveEnd()
        var response = Self.response(.ok, fields)
        state.send(&response)
        let closes = state.inputClosed()
        #expect(closes == fields.isEmpty)
        #expect(state.isInputClosed)
    }

    @Test(arguments: [(.http1_0, .reject), (.http1_1, .forward)] as [(HTTPVersion, HTTP1ConnectionState.RequestAction)])
    func `A transfer coding requires HTTP/1.1`(version: HTTPVersion, action: HTTP1ConnectionState.RequestAction) {
        var state = HTTP1ConnectionState(maximumBodyBytes: 100)
        #expect(state.receive(Self.head(.POST, version, ["transfer-encoding": "chunked"])) == action)
        #expect(state.receiveBody(1) == (action == .reject ? .drop : action))
        #expect(state.receiveEnd() == (action == .reject ? .drop : action))
        #expect(state.isExpectingHead == (action != .reject))
    }

    @Test
    func `A response without a request closes the connection`() {
        var state = HTTP1ConnectionState(maximumBodyBytes: 100)
        var response = Self.response(.badRequest)
        state.send(&response)
        #expect(response.headers.first(name: "connection") == "close")
        #expect(state.sendEnd() == .close)
    }

    @Test(
        arguments: [
            (["expect": "100-continue"], .http1_1, .forwardAndContinue),
            (["expect": "100-Continue", "content-length": "100"], .http1_1, .forwardAndContinue),
            (["expect": "100-continue", "content-length": "101"], .http1_1, .forward),
            (["expect": "100-continue", "content-length": "18446744073709551615"], .http1_1, .forward),
            (["expect": "100-continue"], .http1_0, .forward), (["expect": "200-ok"], .http1_1, .forward),
            ([:], .http1_1, .forward),
        ] as [(HTTPHeaders, HTTPVersion, HTTP1ConnectionState.RequestAction)]
    )
    func `100 Continue is sent unless the body is too large`(
        fields: HTTPHeaders,
        version: HTTPVersion,
        action: HTTP1ConnectionState.RequestAction
    ) {
        var state = HTTP1ConnectionState(maximumBodyBytes: 100)
        #expect(state.receive(Self.head(.POST, version, fields)) == action)
    }

    @Test
    func `100 Continue for a pipelined request is sent after the previous response`() {
        var state = HTTP1ConnectionState(maximumBodyBytes: 100)
        #expect(state.receive(Self.head()) == .forward)
        #expect(state.receiveEnd() == .forward)
        #expect(state.receive(Self.head(.POST, .http1_1, ["expect": "100-continue", "content-length": "5"])) == .forward)
        var response = Self.response()
        state.send(&response)
        #expect(response.headers.first(name: "connection") == nil)
        #expect(state.sendEnd() == .keepOpenAndContinue)
        #expect(state.receiveBody(1) == .forward)
        #expect(state.receiveEnd() == .forward)
        state.send(&response)
        #expect(state.sendEnd() == .keepOpen)
    }

    @Test
    func `On shutdown, complete requests are answered and incomplete ones abandoned`() {
        var state = HTTP1ConnectionState(maximumBodyBytes: 100)
        #expect(state.receive(Self.head()) == .forward)
        #expect(state.receiveEnd() == .forward)
        #expect(state.receive(Self.head()) == .forward)
        #expect(state.receiveEnd() == .forward)
        #expect(state.receive(Self.head(.POST)) == .forward)
        let closesImmediately = state.shutDown()
        #expect(!closesImmediately)
        var response = Self.response()
        state.send(&response)
        #expect(response.headers.first(name: "connection") == nil)
        #expect(state.sendEnd() == .keepOpen)
        state.send(&response)
        #expect(response.headers.first(name: "connection") == "close")
        #expect(state.sendEnd() == .close)
    }

    @Test(arguments: [true, false])
    func `On shutdown, a connection with only an incomplete request is closed`(isRead: Bool) {
        var state = HTTP1ConnectionState(maximumBodyBytes: 100)
        _ = state.receive(Self.head(.POST))
        _ = state.receiveBody(1)
        if isRead { _ = state.receiveEnd() }
        let closesImmediately = state.shutDown()
        #expect(closesImmediately == !isRead)
        #expect(state.receive(Self.head()) == .drop)
    }

    @Test
    func `An interim response does not end the exchange`() {
        var state = HTTP1ConnectionState(maximumBodyBytes: 100)
        _ = state.receive(Self.head(.POST, .http1_1, ["connection": "close"]))
        var interim = Self.response(.continue, [:])
        state.send(&interim)
        #expect(interim.headers.isEmpty)
    }

    @Test(arguments: [true, false])
    func `A connection that receives no more requests is done after the last response`(isShutDown: Bool) {
        var state = HTTP1ConnectionState(maximumBodyBytes: 100)
        #expect(!state.hasAnsweredAllRequests)
        for _ in 0..<2 {
            _ = state.receive(Self.head())
            #expect(!state.isResponsePending)
            _ = state.receiveEnd()
            #expect(state.isResponsePending)
        }
        let closesAtOnce = isShutDown ? state.shutDown() : state.inputClosed()
        #expect(!closesAtOnce)
        for number in 0..<2 {
            #expect(!state.hasAnsweredAllRequests)
            var response = Self.response()
            state.send(&response)
            #expect(state.closesAfterResponse == (isShutDown && number == 1))
            _ = state.sendEnd()
        }
        #expect(state.hasAnsweredAllRequests)
        #expect(!state.isResponsePending)
    }

    @Test
    func `The requests behind a response that closes the connection are discarded`() {
        var state = HTTP1ConnectionState(maximumBodyBytes: 100)
        _ = state.receive(Self.head())
        _ = state.receiveEnd()
        _ = state.receive(Self.head(.POST))
        var response = Self.response(.ok, ["connection": "close", "content-length": "0"])
        state.send(&response)
        #expect(state.closesAfterResponse)
        let actions = [state.receiveBody(1), state.receiveEnd(), state.receive(Self.head())]
        #expect(actions == [.drop, .drop, .drop])
        let end = state.sendEnd()
        #expect(end == .close)
        #expect(state.hasNoPendingRequests)
    }

    @Test
    func `A client is stalled when it has received nothing for the timeout`() {
        let start = NIODeadline.now()
        var detector = StallDetector(timeout: .seconds(10))
        detector.start(deliveredBytes: 100, at: start)
        let samples = [(100, 9), (101, 10), (101, 19), (80, 20)]
        let results = samples.map { delivered, seconds in
            detector.isStalled(deliveredBytes: delivered, at: start + .seconds(Int64(seconds)))
        }
        #expect(results == [false, false, false, true])
    }

    @Test
    func `The grace period starts with the shutdown`() {
        let start = NIODeadline.now()
        let clock = ShutdownClock(grace: .seconds(1))
        #expect(!clock.isGracePeriodOver(at: start + .hours(1)))
        clock.start()
        #expect(!clock.isGracePeriodOver(at: start))
        #expect(clock.isGracePeriodOver(at: start + .hours(1)))
    }
}
