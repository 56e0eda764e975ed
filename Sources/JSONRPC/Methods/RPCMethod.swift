package import StrictJSON
package import UTF8Text

/// A JSON-RPC method: one type with its name, documentation, parameters, implementation and result.
///
/// ``MethodTable`` derives both the dispatch entry and the OpenRPC description from it, so the two cannot diverge. The
/// method's dependencies (the store, the caller) are passed in the `Context`.
///
/// ```swift
/// enum ServerTime: RPCMethod {
///     static let name: UTF8Key = "server.time"
///     static let summary = "Get the server's time."
///     static let requiredPermission = Permission.reader
///     static let parameters: [any ParameterDescription] = []
///     static let result = ResultDescription("time", .string(), "The time in RFC 3339 format.")
///     …
/// }
/// ```
package protocol RPCMethod<Context>: SendableMetatype {
    associatedtype Context: RPCContext
    associatedtype Params: Sendable
    associatedtype Result: Sendable

    /// The name, `resource.verb`, of at most 256 bytes; JSON-RPC reserves names that begin with `rpc.`.
    static var name: UTF8Key { get }
    /// One line for the documentation.
    static var summary: String { get }
    /// The permission required to call the method.
    static var requiredPermission: Context.Permission { get }
    /// The parameters in positional order, required ones first.
    static var parameters: [any ParameterDescription] { get }
    static var result: ResultDescription { get }
    /// The errors that the method itself returns; each code once.
    static var errors: [ErrorDescription] { get }
    static var examples: [RPCExample] { get }
    /// The typical size of a response, which is reserved from the memory budget for responses before the method is called. For a
    /// larger response, the remainder is reserved without waiting.
    static var expectedResponseBytes: Int { get }

    /// Decodes the parameters.
    static func params(from arguments: Arguments) throws -> Params

    /// Executes the method. Deadlines and shutdown cancel its task; the implementation must then return early.
    ///
    /// - Throws: ``RPCErrorConvertible`` errors are mapped for the client; any other is an internal error.
    static func call(_ params: Params, in context: Context) async throws -> Result

    /// Writes the result as one JSON value.
    static func write(_ result: Result, to writer: inout JSONWriter)
}

extension RPCMethod {
    package static var errors: [ErrorDescription] {
        []
    }

    package static var examples: [RPCExample] {
        []
    }

    package static var expectedResponseBytes: Int {
        16 << 10
    }
}

extension RPCMethod where Result == Void {
    /// Writes an empty object.
    package static func write(_ result: Void, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.endObject()
    }
}

/// The context in which methods are called: their dependencies and the caller.
package protocol RPCContext: Sendable {
    /// A permission that methods require. Its raw value appears in the documentation.
    associatedtype Permission: RawRepresentable<String>, Sendable

    /// Throws unless the caller has the permission. Called before the parameters are decoded.
    ///
    /// - Throws: The error of the call, handled like one thrown by a method.
    func authorize(_ permission: Permission) throws

    /// The ID of the request in the server's log, for errors that users report; `nil` for calls of the server itself.
    var requestID: String? { get }
}

extension RPCContext {
    package var requestID: String? { nil }
}
