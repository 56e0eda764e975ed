package import StrictJSON

/// A method that clients can call: one type with its name, documentation, parameters, work and result.
///
/// ``MethodTable`` makes of it the dispatcher's entry and the OpenRPC description, so the two cannot drift apart.
/// What the method needs of its surroundings (the store, who calls) comes in the `Context`.
///
/// ```swift
/// enum ServerTime: RPCMethod {
///     static let name: UTF8Key = "server.time"
///     static let summary = "The server's clock."
///     static let right = Role.reader
///     static let parameters: [any ParameterDescription] = []
///     static let result = ResultDescription("time", .string(), "The time, as RFC 3339 writes it.")
///     …
/// }
/// ```
package protocol RPCMethod<Context>: SendableMetatype {
    associatedtype Context: RPCContext
    associatedtype Params: Sendable
    associatedtype Result: Sendable

    /// `resource.verb`, at most 256 bytes; names beginning with `rpc.` belong to JSON-RPC itself.
    static var name: UTF8Key { get }
    /// One line for the documentation.
    static var summary: String { get }
    /// What a caller needs to be allowed to call the method.
    static var right: Context.Right { get }
    /// In the order of their positions, the required ones first.
    static var parameters: [any ParameterDescription] { get }
    static var result: ResultDescription { get }
    /// The errors of its own that the method answers with; each code once.
    static var errors: [ErrorDescription] { get }
    static var examples: [RPCExample] { get }
    /// How many bytes an answer may well have: there must be room for as many before the method is called. One that becomes
    /// larger needs the room for the rest at once.
    static var expectedAnswerBytes: Int { get }

    /// Takes the parameters from a call.
    static func params(from arguments: Arguments) throws -> Params

    /// Does the work. It ends early when its task is cancelled, which is how deadlines and shutdown reach it.
    ///
    /// - Throws: ``RPCErrorConvertible`` errors are sent to the client as they say; any other is a server failure.
    static func call(_ params: Params, in context: Context) async throws -> Result

    /// Writes the result as exactly one JSON value.
    static func write(_ result: Result, to writer: inout JSONWriter)
}

extension RPCMethod {
    package static var errors: [ErrorDescription] {
        []
    }

    package static var examples: [RPCExample] {
        []
    }

    package static var expectedAnswerBytes: Int {
        16 << 10
    }
}
