import JSONRPC
import StrictJSON
import Testing

@Suite("Mistakes in a table of methods")
struct TableMistakeTests {
    @Test("stop the program when the table is made")
    func mistakes() async {
        await #expect(processExitsWith: .success) { make([Blameless.self]) }
        await #expect(processExitsWith: .failure) { make([Echo.self, Echo.self]) }
        await #expect(processExitsWith: .failure) { make([Reserved.self]) }
        await #expect(processExitsWith: .failure) { make([OptionalFirst.self]) }
        await #expect(processExitsWith: .failure) { make([RefusedExample.self]) }
        await #expect(processExitsWith: .failure) { make([ReservedCode.self]) }
        await #expect(processExitsWith: .failure) { make([SharedSchemaName.self]) }
    }
}

private func make(_ types: [any RPCMethod<Recorder>.Type]) {
    _ = MethodTable(types, discoverableBy: .use, info: OpenRPCInfo(title: "", version: "", description: ""))
}

/// A method that does nothing, for others to spoil.
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

private enum Blameless: Idle {}

private enum Reserved: Idle {
    static let name: UTF8Key = "rpc.idle"
}

private enum OptionalFirst: Idle {
    static let parameters: [any ParameterDescription] = [Parameter<Int?>("a", "An option."), Parameter<Int>("b", "A need.")]
}

private enum RefusedExample: Idle {
    static let examples = [RPCExample("One too many", params: #"{"a":1}"#, result: "null")]
}

private enum ReservedCode: Idle {
    static let errors = [ErrorDescription(.invalidParams, "JSON-RPC's own.")]
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
