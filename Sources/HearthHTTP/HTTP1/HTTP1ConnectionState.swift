import NIOCore
import NIOHTTP1

/// The state machine for the persistence of an HTTP/1 connection, without I/O.
///
/// It receives the parts of requests and responses in order and returns the action for each:
///
/// - A response has the protocol version of its request and states whether the connection stays open.
/// - If a response starts before its request has been received completely, the connection closes after it, because the remaining
///   body would be read only to be discarded.
/// - A request that expects `100 Continue` receives it when its turn comes, unless its body is too large.
/// - A request of HTTP/1.0 with a transfer coding is malformed: its sender, or a proxy on the way, may not know where it ends
///   (RFC 9112, 6.1).
/// - A response to HEAD has no body.
/// - A streaming response ends when the client closes its side of the connection.
/// - On shutdown, requests that have been received completely are answered.
struct HTTP1ConnectionState {
    /// A request whose response is incomplete.
    private struct Request {
        let version: HTTPVersion
        let isKeepAlive: Bool
        let isHead: Bool
        var expectsContinue: Bool
    }

    /// The pending requests in order; the first is being answered.
    private var requests: [Request] = []
    /// True if the body of the last request is incomplete.
    private var isReadingRequest = false
    /// The number of bytes received of that body.
    private(set) var bodyByteCount = 0
    /// True if no further requests are read.
    private var isLastRequest = false
    /// True if the connection closes after the current response.
    private(set) var closesAfterResponse = false
    /// True if the request had been received completely when its response began.
    private var wasRequestComplete = false
    /// True if a response is being written.
    private var isResponding = false
    /// True if that response has no known length.
    private var isStreaming = false
    /// True if the server is shutting down.
    private var isShuttingDown = false
    /// True if the client has closed its sending side.
    private(set) var isInputClosed = false
    private(set) var isClosing = false

    private let maximumBodyBytes: Int

    init(maximumBodyBytes: Int) {
        self.maximumBodyBytes = maximumBodyBytes
    }
}

extension HTTP1ConnectionState {
    /// The action for a part of a request.
    enum RequestAction: Hashable {
        case forward
        /// Forward the part and send `100 Continue`.
        case forwardAndContinue
        /// Discard the part, because the connection is closing.
        case drop
        /// Respond that the request is malformed, and discard everything that follows.
        case reject
    }

    mutating func receive(_ head: HTTPRequestHead) -> RequestAction {
        guard !isLastRequest, !isClosing else { return .drop }
        guard head.version.isHTTP1_1 || !head.headers.contains(name: "transfer-encoding") else {
            isLastRequest = true
            return .reject
        }
        isReadingRequest = true
        bodyByteCount = 0
        let isKeepAlive = head.isKeepAlive
        isLastRequest = !isKeepAlive
        requests.append(
            Request(
                version: head.version,
                isKeepAlive: isKeepAlive,
                isHead: head.method == .HEAD,
                expectsContinue: expectsContinue(head)
            )
        )
        return requests.count == 1 && consumeExpectation() ? .forwardAndContinue : .forward
    }

    /// Receives a part of a body.
    mutating func receiveBody(_ byteCount: Int) -> RequestAction {
        guard isReadingRequest, !isClosing else { return .drop }
        bodyByteCount += byteCount
        return .forward
    }

    mutating func receiveEnd() -> RequestAction {
        guard isReadingRequest, !isClosing else { return .drop }
        isReadingRequest = false
        return .forward
    }

    /// Discards the pending requests, because the connection is being closed before they were processed.
    mutating func abandonRequests() {
        requests = []
        isReadingRequest = false
        isLastRequest = true
    }

    /// Records that the client has closed its sending side.
    ///
    /// - Returns: Whether to close the connection. A client may half-close and wait for its response, but for a streaming response
    ///   this is the only way to disconnect.
    mutating func inputClosed() -> Bool {
        isInputClosed = true
        return isStreaming
    }

    /// Starts shutdown: no more requests are accepted, and one with an incomplete body is abandoned.
    ///
    /// - Returns: Whether to close the connection immediately, because no other request is in progress.
    mutating func shutDown() -> Bool {
        isShuttingDown = true
        isLastRequest = true
        return isWaitingForBody
    }

    /// True if the next inbound bytes belong to a request head.
    var isExpectingHead: Bool {
        !isReadingRequest && !isLastRequest && !isClosing
    }

    /// True if all received requests have been answered and no more are read.
    var hasAnsweredAllRequests: Bool {
        requests.isEmpty && (isInputClosed || isShuttingDown)
    }

    /// True if the connection performs a lingering close: the client may still be sending, unless it has been told to stop by a
    /// shutdown only after its request was complete.
    var lingers: Bool {
        !isInputClosed && !(isShuttingDown && wasRequestComplete)
    }

    /// True if a request has been received completely and not been answered.
    var isResponsePending: Bool {
        !requests.isEmpty && !isReadingRequest
    }

    /// True if all received requests have been answered.
    var hasNoPendingRequests: Bool {
        requests.isEmpty
    }

    /// True if the current request is waiting for more of its body.
    var isWaitingForBody: Bool {
        isReadingRequest && requests.count == 1 && !isResponding && !isClosing
    }

    private func expectsContinue(_ head: HTTPRequestHead) -> Bool {
        guard head.version.isHTTP1_1,
            head.headers[canonicalForm: "expect"].contains(where: {
                $0.utf8.elementsEqual("100-continue".utf8, by: equalIgnoringCase)
            })
        else { return false }
        // A body that is too large is rejected before it is sent.
        return head.headers.first(name: "content-length").map { (Int($0) ?? .max) <= maximumBodyBytes } ?? true
    }

    private mutating func consumeExpectation() -> Bool {
        guard let request = requests.first, request.expectsContinue, isReadingRequest else { return false }
        requests[0].expectsContinue = false
        return true
    }
}

extension HTTP1ConnectionState {
    /// Adapts the head of a response to its request.
    mutating func send(_ head: inout HTTPResponseHead) {
        guard head.status.code >= 200 else { return }
        // Without a request, the response is to a malformed one.
        let isKeepAlive = requests.first?.isKeepAlive ?? false
        let version = requests.first?.version ?? .http1_1
        wasRequestComplete = requests.count > 1 || !isReadingRequest
        let hasKnownLength =
            version.isHTTP1_1 || head.headers.contains(name: "content-length") || !head.status.mayHaveResponseBody
        closesAfterResponse = !isKeepAlive || !wasRequestComplete || !hasKnownLength || !head.isKeepAlive || isLastResponse
        isResponding = true
        isStreaming = !head.headers.contains(name: "content-length") && head.status.mayHaveResponseBody
        // Even an assignment of the same version would copy the head.
        if head.version != version { head.version = version }
        if closesAfterResponse {
            head.headers.replaceOrAdd(name: "connection", value: "close")
            discardLaterRequests()
        } else if !version.isHTTP1_1 {
            head.headers.replaceOrAdd(name: "connection", value: "keep-alive")
        }
    }

    /// Discards the requests behind the one being answered, which is the last one (RFC 9112, 9.6).
    private mutating func discardLaterRequests() {
        isLastRequest = true
        guard requests.count > 1 else { return }
        requests.removeSubrange(1...)
        isReadingRequest = false
    }

    /// True if the body of the current response is sent.
    var sendsBody: Bool {
        requests.first.map { !$0.isHead } ?? true
    }

    /// True if the server is shutting down and no complete request follows the current one.
    private var isLastResponse: Bool {
        isShuttingDown && requests.count - (isReadingRequest ? 1 : 0) <= 1
    }

    /// The action after a response.
    enum ResponseAction: Hashable {
        case keepOpen
        /// Keep the connection open and send `100 Continue` for the next request.
        case keepOpenAndContinue
        /// Perform a lingering close.
        case close
    }

    mutating func sendEnd() -> ResponseAction {
        if !requests.isEmpty { requests.removeFirst() }
        isResponding = false
        isStreaming = false
        guard closesAfterResponse else { return consumeExpectation() ? .keepOpenAndContinue : .keepOpen }
        isClosing = true
        return .close
    }
}

extension HTTPVersion {
    /// True if connections are persistent by default and bodies may be chunked.
    fileprivate var isHTTP1_1: Bool {
        major == 1 && minor >= 1
    }
}

private func equalIgnoringCase(_ left: UInt8, _ right: UInt8) -> Bool {
    left == right || (left | 0x20 == right | 0x20 && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(left | 0x20))
}
