import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@Suite("Method table validation")
struct MethodTableValidationTests {
    @Test
    func `An invalid method table traps on initialization`() async {
        await #expect(processExitsWith: .success) { make([Valid.self]) }
        await #expect(processExitsWith: .failure) { make([Echo.self, Echo.self]) }
        await #expect(processExitsWith: .failure) { make([Reserved.self]) }
        await #expect(processExitsWith: .failure) { make([OptionalFirst.self]) }
        await #expect(processExitsWith: .failure) { make([InvalidExample.self]) }
        await #expect(processExitsWith: .failure) { make([ReservedCode.self]) }
        await #expect(processExitsWith: .failure) { make([SharedSchemaName.self]) }
    }
}

private func make(_ types: [any RPCMethod<Recorder>.Type]) {
    _ = MethodTable(types, discoverableBy: .use, info: OpenRPCInfo(title: "", version: "", description: ""))
}

/// A method that does nothing, with valid defaults.
private protocol Idle: RPCMethod where Context == Recorder, Params == Void, Result == Void {}

extension Idle {
    static var name: UTF8Key { "test.idle" }
    static var summary: String { "Does nothing." }
    static var parameters: [any ParameterDescription] { [] }
    static var result: ResultDescription { anything }

    static func params(from arguments: Arguments) throws {}

    static func call(_ params: Void, in recorder: Recorder) {}

    static func write(_ result: Void, to writer: inout JSONWriter) {
        writer.null()
    }
}

private enum Valid: Idle {}

private enum Reserved: Idle {
    static let name: UTF8Key = "rpc.idle"
}

private enum OptionalFirst: Idle {
    static let parameters: [any ParameterDescription] = [
        Parameter<Int?>("a", "An optional parameter."), Parameter<Int>("b", "A required parameter."),
    ]
}

private enum InvalidExample: Idle {
    static let examples = [RPCExample("Unknown parameter", params: #"{"a":1}"#, result: "null")]
}

private enum ReservedCode: Idle {
    static let errors = [ErrorDescription(.invalidParams, "Reserved by JSON-RPC.")]
}

private enum SharedSchemaName: Idle {
    struct Filter: ObjectParameter {
        static let schemaName = "Filter"
        static let members: [any ParameterDescription] = []

        init(from members: Arguments) {}
    }

    static let parameters: [any ParameterDescription] = [
        Parameter<Filter>("a", "A filter."), Parameter<Find.Filter>("b", "Another filter."),
    ]
}
