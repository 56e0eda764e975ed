import NIOCore
import NIOHTTP1

/// The rules by which an HTTP/1 connection is kept open or closed, as a state machine without the connection.
///
/// It sees the requests' and responses' parts in the order in which they pass, and says what is to be done with each:
///
/// - a response is in the protocol version of its request, and says whether the connection stays open;
/// - one that comes before the request was read to its end closes the connection, since the rest is of no use to anybody;
/// - a request that waits for `100 Continue` gets it when its turn has come, unless its body is too large;
/// - a response to HEAD has no body;
/// - a response without end is ended by the client's not sending any more;
/// - when the server stops, requests that have come are answered, and the rest is not waited for.
struct ConnectionState {
    /// A request that was not answered to the end.
    private struct Request {
        let version: HTTPVersion
        let isKeepAlive: Bool
        let isHead: Bool
        var expectsContinue: Bool
    }

    /// The requests that were read, in order; the first is the one that is being answered.
    private var requests: [Request] = []
    /// Whether the body of the last request is still to be read.
    private var isReadingRequest = false
    /// How many bytes of that have come.
    private(set) var bodyByteCount = 0
    /// Whether no further request is to be read.
    private var isLastRequest = false
    /// Whether the connection closes after the response that is being written.
    private var closesAfterResponse = false
    /// Whether a response is being written.
    private var isResponding = false
    /// Whether its end is not known.
    private var isStreaming = false
    /// Whether the server takes no more requests.
    private var isStopping = false
    /// Whether the client has said that it sends nothing more.
    private(set) var isInputClosed = false
    private(set) var isClosing = false

    private let maximumBodyBytes: Int

    init(maximumBodyBytes: Int) {
        self.maximumBodyBytes = maximumBodyBytes
    }
}

extension ConnectionState {
    /// What is to be done with a part of a request.
    enum RequestAction: Hashable {
        case forward
        /// Pass the part on, and tell the client to go on.
        case forwardAndContinue
        /// The connection is about to close: nobody will answer.
        case drop
    }

    mutating func receive(_ head: HTTPRequestHead) -> RequestAction {
        guard !isLastRequest, !isClosing else { return .drop }
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
        return requests.count == 1 && takeExpectation() ? .forwardAndContinue : .forward
    }

    /// Takes a part of a body.
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

    /// Takes note that the client sends nothing more.
    ///
    /// - Returns: Whether to close the connection. A client that waits for a response may have said all it has to say; one
    ///   that gets a response without end can't leave in any other way.
    mutating func inputClosed() -> Bool {
        isInputClosed = true
        return isStreaming
    }

    /// Takes note that the server stops: no request is taken any more, and one whose body has not come is given up.
    ///
    /// - Returns: Whether to close the connection at once, because nothing else is being worked on.
    mutating func stop() -> Bool {
        isStopping = true
        isLastRequest = true
        return isWaitingForBody
    }

    /// Whether what comes next is a head, or more of one.
    var isReadingHead: Bool {
        !isReadingRequest && !isLastRequest && !isClosing
    }

    /// Whether all requests have been answered.
    var isWithoutRequest: Bool {
        requests.isEmpty
    }

    /// Whether it is the client's turn to send more of a body.
    var isWaitingForBody: Bool {
        isReadingRequest && requests.count == 1 && !isResponding && !isClosing
    }

    private func expectsContinue(_ head: HTTPRequestHead) -> Bool {
        guard head.version.isHTTP1_1,
            head.headers[canonicalForm: "expect"].contains(where: {
                $0.utf8.elementsEqual("100-continue".utf8, by: equalIgnoringCase)
            })
        else { return false }
        // One that is too large is refused before it is sent.
        return head.headers.first(name: "content-length").map { (Int($0) ?? .max) <= maximumBodyBytes } ?? true
    }

    private mutating func takeExpectation() -> Bool {
        guard let request = requests.first, request.expectsContinue, isReadingRequest else { return false }
        requests[0].expectsContinue = false
        return true
    }
}

extension ConnectionState {
    /// Adapts the head of a response to its request.
    mutating func send(_ head: inout HTTPResponseHead) {
        guard head.status.code >= 200 else { return }
        // Without a request it answers to what could not be read as one.
        let isKeepAlive = requests.first?.isKeepAlive ?? false
        let version = requests.first?.version ?? .http1_1
        let isRead = requests.count > 1 || !isReadingRequest
        let isFramed = version.isHTTP1_1 || head.headers.contains(name: "content-length") || !head.status.mayHaveResponseBody
        closesAfterResponse = !isKeepAlive || !isRead || !isFramed || !head.isKeepAlive || isLastToAnswer
        isResponding = true
        isStreaming = !head.headers.contains(name: "content-length") && head.status.mayHaveResponseBody
        head.version = version
        if closesAfterResponse {
            head.headers.replaceOrAdd(name: "connection", value: "close")
        } else if !version.isHTTP1_1 {
            head.headers.replaceOrAdd(name: "connection", value: "keep-alive")
        }
    }

    /// Whether a part of a response's body is sent.
    var sendsBody: Bool {
        requests.first.map { !$0.isHead } ?? true
    }

    /// Whether the server stops, and nothing behind the first request has come completely.
    private var isLastToAnswer: Bool {
        isStopping && requests.count - (isReadingRequest ? 1 : 0) <= 1
    }

    /// What is to be done after a response.
    enum ResponseAction: Hashable {
        case keepOpen
        /// The next request is waiting to be told to go on.
        case keepOpenAndContinue
        /// Close, once the response has been sent and the client has had the time to see it.
        case close
    }

    mutating func sendEnd() -> ResponseAction {
        if !requests.isEmpty { requests.removeFirst() }
        isResponding = false
        isStreaming = false
        guard closesAfterResponse else { return takeExpectation() ? .keepOpenAndContinue : .keepOpen }
        isClosing = true
        return .close
    }
}

extension HTTPVersion {
    /// Whether connections stay open by default and bodies may be chunked.
    fileprivate var isHTTP1_1: Bool {
        major == 1 && minor >= 1
    }
}

private func equalIgnoringCase(_ left: UInt8, _ right: UInt8) -> Bool {
    left == right || (left | 0x20 == right | 0x20 && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(left | 0x20))
}
