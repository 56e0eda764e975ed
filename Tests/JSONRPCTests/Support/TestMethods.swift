import JSONRPC
import StrictJSON
import Synchronization
import TestSupport
import UTF8Text

/// The context of the test methods, which records what was executed.
final class Recorder: RPCContext {
    enum Right: String {
        case use
        case record
    }

    private let denied: Right?
    private let texts = Mutex<[String]>([])
    private let waiting = AsyncStream<Void>.makeStream()

    /// Creates a recorder.
    ///
    /// - Parameter denied: A right that the caller lacks.
    init(denying denied: Right? = nil) {
        self.denied = denied
    }

    func authorize(_ right: Right) throws {
        guard right != denied else { throw RPCError(7, "Permission denied: \(right.rawValue)") }
    }

    var recorded: [String] {
        texts.withLock { $0 }
    }

    func record(_ text: String) {
        texts.withLock { $0.append(text) }
    }

    func startWaiting() {
        waiting.continuation.yield()
    }

    /// Returns once ``Wait`` has been called.
    func waitUntilWaiting() async {
        for await _ in waiting.stream {
            return
        }
    }
}

extension RPCMethod where Context == Recorder {
    static var requiredPermission: Recorder.Right { .use }
}

let anything = ResultDescription("anything", .any, "Anything.")

/// Returns its parameter, byte for byte.
enum Echo: RPCMethod {
    static let value = Parameter<AnyJSON>("value", "The value to return.")

    static let name: UTF8Key = "test.echo"
    static let summary = "Return the parameter."
    static let parameters: [any ParameterDescription] = [value]
    static let result = anything
    static let examples = [RPCExample("A list", params: #"{"value":[1,2.0,null]}"#, result: "[1,2.0,null]")]

    static func params(from arguments: Arguments) throws -> AnyJSON {
        try arguments[value]
    }

    static func call(_ params: AnyJSON, in recorder: Recorder) -> AnyJSON {
        params
    }

    static func write(_ result: AnyJSON, to writer: inout JSONWriter) {
        writer.raw(result.node.rawBytes)
    }
}

struct AnyJSON: ParameterValue {
    static let schema = JSONSchema.any
    let node: JSONNode

    init(json: JSONNode, at location: ParameterLocation) {
        self.node = json
    }
}

/// The specification's example, with an optional second operand.
enum Subtract: RPCMethod {
    struct Params {
        var minuend: Int
        var subtrahend: Int?
    }

    static let minuend = Parameter<Int>("minuend", "The number to subtract from.")
    static let subtrahend = Parameter<Int?>("subtrahend", "The number to subtract; 1 when absent.")

    static let name: UTF8Key = "subtract"
    static let summary = "Subtract two numbers."
    static let parameters: [any ParameterDescription] = [minuend, subtrahend]
    static let result = ResultDescription("difference", .integer(), "The difference.")
    static let errors = [ErrorDescription(11, "The difference does not fit into 64 bits.")]
    static let examples = [
        RPCExample("Both", params: #"{"minuend":42,"subtrahend":23}"#, result: "19"),
        RPCExample("One less", params: #"{"minuend":42}"#, result: "41"),
    ]

    static func params(from arguments: Arguments) throws -> Params {
        Params(minuend: try arguments[minuend], subtrahend: try arguments[subtrahend])
    }

    static func call(_ params: Params, in recorder: Recorder) throws -> Int {
        let (difference, overflow) = params.minuend.subtractingReportingOverflow(params.subtrahend ?? 1)
        guard !overflow else {
            throw RPCError(11, "The difference does not fit into 64 bits.", data: ["status": "OUT_OF_RANGE"])
        }
        return difference
    }

    static func write(_ result: Int, to writer: inout JSONWriter) {
        writer.integer(Int64(result))
    }
}

/// Records a string, so that a test can verify what was executed, and in which order.
enum Record: RPCMethod {
    static let text = Parameter<String>("text", "The text to record.")

    static let name: UTF8Key = "test.record"
    static let summary = "Record a text."
    static let requiredPermission = Recorder.Right.record
    static let parameters: [any ParameterDescription] = [text]
    static let result = ResultDescription("count", .integer(minimum: 1), "The number of recorded texts.")

    static func params(from arguments: Arguments) throws -> String {
        try arguments[text]
    }

    static func call(_ params: String, in recorder: Recorder) -> Int {
        recorder.record(params)
        return recorder.recorded.count
    }

    static func write(_ result: Int, to writer: inout JSONWriter) {
        writer.integer(Int64(result))
    }
}

/// Waits until it is cancelled, then throws or returns a result.
enum Wait: RPCMethod {
    static let finishes = Parameter<Bool?>("finishes", "Return a result despite the cancellation.")

    static let name: UTF8Key = "test.wait"
    static let summary = "Wait until cancelled."
    static let parameters: [any ParameterDescription] = [finishes]
    static let result = anything

    static func params(from arguments: Arguments) throws -> Bool {
        try arguments[finishes] ?? false
    }

    static func call(_ finishes: Bool, in recorder: Recorder) async throws -> String {
        recorder.startWaiting()
        await untilCancelled()
        if !finishes {
            try Task.checkCancellation()
        }
        return "finished"
    }

    static func write(_ result: String, to writer: inout JSONWriter) {
        writer.string(result)
    }
}

/// Fails with the requested kind of error.
enum Fail: RPCMethod {
    struct Unexpected: Error, CustomStringConvertible {
        let description = "open(/srv/secret/path): EIO"
    }

    struct NotFound: RPCErrorConvertible {
        let rpcError = RPCError(
            5,
            "There is no document books/vogon.",
            data: [
                "status": "NOT_FOUND", "path": "books/vogon", "file": .object(["line": .integer(3), "whole": .boolean(false)]),
            ]
        )
    }

    static let kind = Parameter<String>("kind", "The kind of error.")

    static let name: UTF8Key = "test.fail"
    static let summary = "Fail."
    static let parameters: [any ParameterDescription] = [kind]
    static let result = anything
    static let errors = [ErrorDescription(5, "The document does not exist."), ErrorDescription(9, "Not now.")]

    static func params(from arguments: Arguments) throws -> String {
        try arguments[kind]
    }

    static func call(_ kind: String, in recorder: Recorder) throws {
        switch UTF8Key(kind) {
        case "plain": throw RPCError(9, "Not now.")
        case "convertible": throw NotFound()
        case "internal": throw RPCError(.internalError, "the page cache is upside down", data: ["secret": "yes"])
        default: throw Unexpected()
        }
    }

    static func write(_ result: Void, to writer: inout JSONWriter) {
        writer.null()
    }
}

/// A method with nested parameters and a recursive filter.
enum Find: RPCMethod {
    struct Filter: ObjectParameter {
        static let schemaName = "Filter"
        static let op = Parameter<Operator?>("op", "The comparison.")
        static let tags = Parameter<[String]?>("tags", "Any of these tags.")
        static let and = Parameter<[Filter]?>("and", "All of these.")
        static let members: [any ParameterDescription] = [op, tags, and]

        init(from members: Arguments) throws(RPCError) {
            _ = try members[Self.op]
            _ = try members[Self.tags]
            _ = try members[Self.and]
        }
    }

    enum Operator: String, CaseIterable, ParameterValue {
        case equal = "=="
        case less = "<"

        static var schema: JSONSchema {
            .string(values: allCases.map(\.rawValue))
        }

        init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
            let text = UTF8Key(try String(json: json, at: location))
            guard let known = Self.allCases.first(where: { UTF8Key($0.rawValue) == text }) else {
                throw location.invalid("no such operator", got: json)
            }
            self = known
        }
    }

    static let conditions = Parameter<[Filter]>("where", "The filters.")
    static let limit = Parameter<Int?>("limit", "The maximum number of results.")

    static let name: UTF8Key = "test.find"
    static let summary = "Find nothing."
    static let parameters: [any ParameterDescription] = [conditions, limit]
    static let result = ResultDescription(
        "page",
        .object([
            JSONSchema.Property("found", .array(of: .map(of: .any)), "The results."),
            JSONSchema.Property("filter", Filter.schema, "The first filter.", isRequired: false),
            JSONSchema.Property(
                "time",
                .oneOf([.string(format: "date-time", pattern: "Z$"), .integer(minimum: 0, maximum: 9), .boolean]),
                "A time.",
                isRequired: false
            ),
        ]),
        "A page."
    )
    static let examples = [RPCExample("Nested", params: #"{"where":[{"and":[{"op":"<"}]}]}"#, result: #"{"found":[]}"#)]

    static func params(from arguments: Arguments) throws {
        if try arguments[conditions].isEmpty, try arguments[limit] != nil {
            throw arguments.location(of: limit).invalid("there is nothing to limit")
        }
    }

    static func call(_ params: Void, in recorder: Recorder) {}

    static func write(_ result: Void, to writer: inout JSONWriter) {
        writer.raw(#"{"found":[]}"#.utf8)
    }
}

/// A method that reads an undeclared parameter.
enum ReadsUndeclared: RPCMethod {
    static let name: UTF8Key = "test.readsUndeclared"
    static let summary = "Read an undeclared parameter."
    static let parameters: [any ParameterDescription] = []
    static let result = anything

    static func params(from arguments: Arguments) throws -> String? {
        try arguments[Parameter<String?>("undeclared", "An undeclared parameter.")]
    }

    static func call(_ params: String?, in recorder: Recorder) {}

    static func write(_ result: Void, to writer: inout JSONWriter) {
        writer.null()
    }
}
