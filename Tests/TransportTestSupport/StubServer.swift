import Foundation
package import HearthTransport
import StrictJSON
import Synchronization
import UTF8Text

/// An HTTP server with the responses of a closure, for tests that decide what the server says about each request.
package final class StubServer: Sendable {
    /// A request.
    package struct Request: Sendable {
        package let path: String
        /// The ID token; `nil` without one.
        package let token: String?
        package let body: String
    }

    /// A response.
    package enum Response: Sendable {
        /// A complete response.
        case json(status: Int, String)
        /// The response of a proxy that has no server to pass the request to.
        case unavailable(retryAfter: String?)
        /// A stream of lines: those written by the closure, which is called on a thread of its own.
        case stream(@Sendable (Stream) -> Void)
        /// None: the connection is closed.
        case none
    }

    /// The body of a streaming response.
    package struct Stream: Sendable {
        fileprivate let connection: Int32

        /// Sends a line.
        package func send(_ line: String) {
            let length = String(line.utf8.count + 1, radix: 16)
            connection.write("\(length)\r\n\(line)\n\r\n")
        }

        /// Waits until the client closes the connection.
        package func waitUntilClosed() {
            connection.waitUntilClosed()
        }
    }

    private let listener: LoopbackListener
    private let log = Log()

    private final class Log: Sendable {
        let requests = Mutex<[Request]>([])
    }

    package var port: UInt16 { listener.port }

    /// The address of the server.
    package var address: ServerAddress {
        get throws { try ServerAddress("http://127.0.0.1:\(port)") }
    }

    /// The requests so far.
    package var requests: [Request] { log.requests.withLock(\.self) }

    /// The tokens of the requests so far.
    package var tokens: [String?] { requests.map(\.token) }

    package init(_ respond: @escaping @Sendable (Request) -> Response) throws {
        listener = try LoopbackListener()
        let descriptor = listener.descriptor
        Thread.detachNewThread { [log] in
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread {
                    Self.serve(connection) { request in
                        log.requests.withLock { $0.append(request) }
                        return respond(request)
                    }
                    close(connection)
                }
            }
        }
    }

    private static func serve(_ connection: Int32, _ respond: (Request) -> Response) {
        var buffer: [UInt8] = []
        while let request = connection.readRequest(&buffer) {
            switch respond(request) {
            case .none: return
            case .json(let status, let body):
                connection.write("HTTP/1.1 \(status) \r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            case .unavailable(let retryAfter):
                let field = retryAfter.map { "Retry-After: \($0)\r\n" } ?? ""
                connection.write("HTTP/1.1 503 \r\n\(field)Content-Length: 13\r\n\r\n<h1>Busy</h1>")
            case .stream(let write):
                connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                write(Stream(connection: connection))
                connection.write("0\r\n\r\n")
            }
        }
    }
}

extension StubServer.Response {
    /// The results of reads of documents, each of which exists with the field `n`.
    package static func documents(for request: StubServer.Request, n: Int = 1) -> StubServer.Response {
        guard let root = try? JSONText(Array(request.body.utf8)).root else {
            return .json(status: 400, "")
        }
        let time = "2024-02-29T12:00:00.000000Z"
        func response(_ call: JSONNode) -> String {
            let id = String(decoding: call["id"]?.rawBytes ?? [], as: UTF8.self)
            let path = call["params"]?["path"]?.string ?? ""
            return #"{"jsonrpc":"2.0","id":\#(id),"result":{"path":"\#(path)","fields":{"n":\#(n)},"createTime":"\#(time)","#
                + #""updateTime":"\#(time)"}}"#
        }
        guard let calls = root.elements else { return .json(status: 200, response(root)) }
        return .json(status: 200, "[\(calls.map(response).joined(separator: ","))]")
    }

    /// A successful commit of one write.
    package static let committed = StubServer.Response.json(
        status: 200,
        #"{"jsonrpc":"2.0","id":0,"result":{"commitTime":"2024-02-29T12:00:00.000000Z","writeResults":[{}]}}"#
    )
    /// The refusal of a token.
    package static let unauthenticated = StubServer.Response.json(
        status: 401,
        #"{"error":{"code":16,"message":"The ID token has expired.","data":{"status":"UNAUTHENTICATED"}}}"#
    )
    /// The refusal by rules.
    package static let permissionDenied = StubServer.Response.json(
        status: 403,
        #"{"error":{"code":7,"message":"Missing or insufficient permissions.","data":{"status":"PERMISSION_DENIED"}}}"#
    )
}

extension Int32 {
    fileprivate func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { send(self, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            bytes.removeFirst(count)
        }
    }

    fileprivate func waitUntilClosed() {
        var byte: UInt8 = 0
        while read(self, &byte, 1) > 0 {}
    }

    /// Reads a request with a content length; `nil` at the end of the connection.
    fileprivate func readRequest(_ buffer: inout [UInt8]) -> StubServer.Request? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let head = buffer.firstRange(of: end) {
                let lines = String(decoding: buffer[..<head.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
                var fields: [String: String] = [:]
                for line in lines.dropFirst() {
                    guard let colon = line.firstIndex(of: ":") else { continue }
                    fields[line[..<colon].lowercased()] = line[colon...].dropFirst().trimmingCharacters(in: .whitespaces)
                }
                let length = fields["content-length"].flatMap { Int($0) } ?? 0
                if buffer.count >= head.upperBound + length {
                    let body = String(decoding: buffer[head.upperBound..<head.upperBound + length], as: UTF8.self)
                    buffer.removeFirst(head.upperBound + length)
                    return StubServer.Request(
                        path: lines[0].components(separatedBy: " ")[1],
                        token: fields["authorization"].map { String($0.dropFirst("Bearer ".count)) },
                        body: body
                    )
                }
            }
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = read(self, &bytes, bytes.count)
            guard count > 0 else { return nil }
            buffer += bytes.prefix(count)
        }
    }
}
