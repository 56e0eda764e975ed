import Concurrency
import DocumentModel
import HearthAPI
import HearthHTTP
import HummingbirdCore
import SwiftProtobuf
import UTF8Text

/// A method of a gRPC service.
protocol GRPCMethod: Sendable {
    /// True if messages are read while the response is written.
    var isStream: Bool { get }

    /// Responds to a call.
    ///
    /// - Parameter time: Set when the execution of the call begins; stays `nil` for a stream.
    /// - Throws: ``GRPCStatus`` or any other error, if the call fails before its first message.
    func respond(
        to request: Request,
        in requestContext: HearthRequestContext,
        on server: GRPCServer,
        time: inout Stopwatch?
    ) async throws -> Response
}

extension GRPCMethod {
    var isStream: Bool { false }
}

/// A method that this server doesn't have.
struct UnimplementedMethod: GRPCMethod {
    let message: String

    func respond(to _: Request, in _: HearthRequestContext, on _: GRPCServer, time _: inout Stopwatch?) throws -> Response {
        throw GRPCStatus(.unimplemented, message)
    }
}

/// A method with one request message, whose response is complete before its first message is sent: a unary or server-streaming
/// method.
struct GRPCCall: GRPCMethod {
    /// The permission required to make the call; `nil` if it is open to everyone.
    let requiredPermission: Permission?
    /// The maximum length of the message, if it is less than that of all requests.
    var maximumMessageBytes = Int.max
    /// The typical size of a response; see `RPCMethod`.
    let expectedResponseBytes: Int
    /// Decodes the message and executes the call, in the context of the default database.
    let execute: @Sendable (_ message: [UInt8], _ context: ServiceContext) async throws(StatusError) -> GRPCMessages

    private static let smallResponseBytes = 16 << 10

    /// Creates a unary method.
    static func unary<Input: Message, Output: Message>(
        _ requiredPermission: Permission?,
        maximumMessageBytes: Int = .max,
        expectedResponseBytes: Int = smallResponseBytes,
        _ body: @escaping @Sendable (Input, ServiceContext) async throws(StatusError) -> Output
    ) -> GRPCCall {
        var call = encoded(requiredPermission, expectedResponseBytes: expectedResponseBytes) {
            (input: Input, context) throws(StatusError) in
            let output = try await body(input, context)
            return try GRPCMessages(output.encoded())
        }
        call.maximumMessageBytes = maximumMessageBytes
        return call
    }

    /// Creates a method, unary or server-streaming, that encodes its messages itself.
    static func encoded<Input: Message>(
        _ requiredPermission: Permission?,
        expectedResponseBytes: Int = smallResponseBytes,
        _ body: @escaping @Sendable (Input, ServiceContext) async throws(StatusError) -> GRPCMessages
    ) -> GRPCCall {
        GRPCCall(
            requiredPermission: requiredPermission,
            expectedResponseBytes: expectedResponseBytes
        ) { message, context throws(StatusError) in
            if let requiredPermission { try context.authorize(requiredPermission) }
            return try await body(Input(decoding: message), context)
        }
    }
}

/// The messages of a response, encoded on demand.
struct GRPCMessages: Sendable {
    let count: Int
    /// The approximate memory that the messages retain.
    let estimatedBytes: Int
    /// The number of damaged documents omitted from the response, which the protocol cannot report.
    let damagedCount: Int
    private let encode: @Sendable (_ index: Int) throws(StatusError) -> [UInt8]

    /// Creates messages.
    ///
    /// - Parameter encode: Returns the message at an index.
    init(
        count: Int,
        estimatedBytes: Int,
        damagedCount: Int = 0,
        _ encode: @escaping @Sendable (_ index: Int) throws(StatusError) -> [UInt8]
    ) {
        self.count = count
        self.estimatedBytes = estimatedBytes
        self.damagedCount = damagedCount
        self.encode = encode
    }

    /// Creates a single message.
    init(_ message: [UInt8], damagedCount: Int = 0) {
        self.init(count: 1, estimatedBytes: message.count, damagedCount: damagedCount) { _ in message }
    }

    /// Returns the message at an index.
    func message(_ index: Int) throws(StatusError) -> [UInt8] {
        try encode(index)
    }
}

extension Message {
    /// Decodes a request.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for bytes that are not such a message.
    init(decoding bytes: [UInt8]) throws(StatusError) {
        do {
            try self.init(serializedBytes: bytes)
        } catch {
            throw StatusError(
                .invalidArgument,
                "The request is not a valid \(Self.protoMessageName) message: \(error)",
                cause: error
            )
        }
    }

    /// Encodes a response.
    ///
    /// - Throws: ``StatusCode/internal`` for a message that cannot be encoded.
    func encoded() throws(StatusError) -> [UInt8] {
        do {
            return try serializedBytes()
        } catch {
            throw StatusError(.internal, "The response cannot be encoded: \(error)", cause: error)
        }
    }
}
