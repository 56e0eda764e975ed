import StrictJSON

/// The methods of a service, by name.
///
/// The dispatcher, the decoding of parameters, `rpc.discover` and the documentation are all made from this one table. It is
/// checked when it is made: a name used twice, a required parameter after an optional one, an error code declared twice
/// or an example that its own method would refuse is a mistake in the program, and stops it.
package struct MethodTable<Context: RPCContext>: Sendable {
    /// A method with its types closed over: they are decided once, when it is registered, and not looked up for each call.
    struct Entry: Sendable {
        /// How many bytes an answer may well have.
        let expectedAnswerBytes: Int
        /// Makes sure that the caller may call, decodes, calls, and gives back what writes the result.
        let call: @Sendable (_ params: JSONNode?, _ context: Context) async throws -> ResultWriter
    }

    typealias ResultWriter = @Sendable (inout JSONWriter) -> Void

    /// The methods in the order in which they were listed; `rpc.discover` is the last.
    package let methods: [MethodDescription]

    /// The OpenRPC document of the table, as compact JSON: what `rpc.discover` answers with.
    package let openRPCDocument: [UInt8]

    private let entries: [UTF8Key: Entry]

    /// Makes the table.
    ///
    /// - Parameters:
    ///   - types: The methods.
    ///   - right: What a caller needs to be allowed to call `rpc.discover`.
    ///   - refusals: How callers without the right are refused, which every method lists among its errors.
    ///   - shared: Parameters that each of them takes behind its own.
    ///   - info: What the OpenRPC document says of the service as a whole.
    package init(
        _ types: [any RPCMethod<Context>.Type],
        discoverableBy right: Context.Right,
        refusingWith refusals: [ErrorDescription] = [],
        sharing shared: [SharedParameter<Context>] = [],
        info: OpenRPCInfo
    ) {
        var methods: [MethodDescription] = []
        var entries: [UTF8Key: Entry] = [:]
        let sharedErrors = shared.flatMap(\.errors) + refusals
        for type in types {
            let (method, entry) = Self.register(type, sharing: shared, sharedErrors)
            method.check()
            precondition(entries.updateValue(entry, forKey: method.name) == nil, "\(method.name) is registered twice")
            methods.append(method)
        }
        let discover = MethodDescription.discover(
            right: right.rawValue,
            parameters: shared.map(\.declaration),
            errors: sharedErrors
        )
        methods.append(discover)
        let document = OpenRPCDocument.encode(info, methods: methods)
        entries[discover.name] = Entry(expectedAnswerBytes: document.count) { params, context in
            try context.authorize(right)
            let arguments = try Arguments(params, declared: discover.parameters)
            _ = try await SharedParameter.context(selectedBy: shared, from: arguments, in: context)
            return { $0.raw(document) }
        }
        self.methods = methods
        self.openRPCDocument = document
        self.entries = entries
    }

    subscript(_ name: UTF8Key) -> Entry? {
        entries[name]
    }

    private static func register<Method: RPCMethod<Context>>(
        _ type: Method.Type,
        sharing shared: [SharedParameter<Context>],
        _ sharedErrors: [ErrorDescription]
    ) -> (MethodDescription, Entry) {
        let method = MethodDescription(
            name: Method.name,
            summary: Method.summary,
            right: Method.right.rawValue,
            parameters: Method.parameters + shared.map(\.declaration),
            result: Method.result,
            errors: Method.errors + sharedErrors.filter { error in !Method.errors.contains { $0.code == error.code } },
            examples: Method.examples
        )
        for example in method.examples {
            do {
                _ = try Method.params(from: Arguments(example.params.root, declared: method.parameters))
            } catch {
                preconditionFailure("\(method.name) refuses its own example \"\(example.name)\": \(error)")
            }
        }
        let entry = Entry(expectedAnswerBytes: Method.expectedAnswerBytes) { params, context in
            try context.authorize(Method.right)
            let arguments = try Arguments(params, declared: method.parameters)
            let context = try await SharedParameter.context(selectedBy: shared, from: arguments, in: context)
            let result = try await Method.call(Method.params(from: arguments), in: context)
            return { Method.write(result, to: &$0) }
        }
        return (method, entry)
    }
}
