import StrictJSON

/// The methods of a service, by name.
///
/// The dispatcher, the decoding of parameters, `rpc.discover` and the documentation are all made from this one table. It is
/// checked when it is made: a name used twice, a required parameter after an optional one, an error code declared twice
/// or an example that its own method would refuse is a mistake in the program, and stops it.
package struct MethodTable<Context: Sendable>: Sendable {
    /// A method with its types closed over: they are decided once, when it is registered, and not looked up for each call.
    struct Entry: Sendable {
        /// Decodes, calls, and gives back what writes the result.
        let call: @Sendable (_ params: JSONNode?, _ context: Context) async throws -> ResultWriter
    }

    typealias ResultWriter = @Sendable (inout JSONWriter) -> Void

    /// The methods in the order in which they were listed; `rpc.discover` is the last.
    package let methods: [MethodDescription]

    /// The OpenRPC document of the table, as compact JSON: what `rpc.discover` answers with.
    package let openRPCDocument: [UInt8]

    private let entries: [UTF8Key: Entry]

    /// Makes the table.
    package init(_ types: [any RPCMethod<Context>.Type], info: OpenRPCInfo) {
        var methods: [MethodDescription] = []
        var entries: [UTF8Key: Entry] = [:]
        for type in types {
            let (method, entry) = Self.register(type)
            method.check()
            precondition(entries.updateValue(entry, forKey: method.name) == nil, "\(method.name) is registered twice")
            methods.append(method)
        }
        methods.append(.discover)
        let document = OpenRPCDocument.encode(info, methods: methods)
        entries[MethodDescription.discover.name] = Entry { params, _ in
            _ = try Arguments(params, declared: MethodDescription.discover.parameters)
            return { $0.raw(document) }
        }
        self.methods = methods
        self.openRPCDocument = document
        self.entries = entries
    }

    subscript(_ name: UTF8Key) -> Entry? {
        entries[name]
    }

    private static func register<Method: RPCMethod<Context>>(_ type: Method.Type) -> (MethodDescription, Entry) {
        let method = MethodDescription(
            name: Method.name,
            summary: Method.summary,
            parameters: Method.parameters,
            result: Method.result,
            errors: Method.errors,
            examples: Method.examples
        )
        let decode: @Sendable (JSONNode?) throws -> Method.Params = { params in
            try Method.params(from: Arguments(params, declared: method.parameters))
        }
        for example in method.examples {
            do {
                _ = try decode(example.params.root)
            } catch {
                preconditionFailure("\(method.name) refuses its own example \"\(example.name)\": \(error)")
            }
        }
        let entry = Entry { params, context in
            let result = try await Method.call(decode(params), in: context)
            return { Method.write(result, to: &$0) }
        }
        return (method, entry)
    }
}
