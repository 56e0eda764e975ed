import StrictJSON
import UTF8Text

/// The methods of a service by name.
///
/// Dispatch, parameter decoding, `rpc.discover` and the documentation all derive from this table. Initialization validates it: a
/// duplicate name, a required parameter after an optional one, a duplicate error code or an example with invalid parameters is a
/// programming error and traps.
package struct MethodTable<Context: RPCContext>: Sendable {
    /// A method with its generic types erased once, at registration.
    struct Entry: Sendable {
        /// The index of the method in ``MethodTable/methods``.
        let index: Int
        /// The typical size of a response; see ``RPCMethod/expectedResponseBytes``.
        let expectedResponseBytes: Int
        /// Authorizes the caller, decodes the parameters, executes the method and returns a closure that writes the result.
        let call: @Sendable (_ params: JSONNode?, _ context: Context) async throws -> ResultWriter
    }

    typealias ResultWriter = @Sendable (inout JSONWriter) -> Void

    /// The methods in declaration order, followed by `rpc.discover`.
    package let methods: [MethodDescription]

    /// The OpenRPC document of the table, as compact JSON; the result of `rpc.discover`.
    package let openRPCDocument: [UInt8]

    private let entries: [UTF8Key: Entry]

    /// Creates the table.
    ///
    /// - Parameters:
    ///   - types: The methods.
    ///   - permission: The permission required to call `rpc.discover`.
    ///   - authorizationErrors: The errors for callers without the required permission, which every method lists among its
    ///     errors.
    ///   - sharedParameters: Parameters that every method has after its own.
    ///   - info: The service-level metadata of the OpenRPC document.
    package init(
        _ types: [any RPCMethod<Context>.Type],
        discoverableBy permission: Context.Permission,
        authorizationErrors: [ErrorDescription] = [],
        sharedParameters: [SharedParameter<Context>] = [],
        info: OpenRPCInfo
    ) {
        var methods: [MethodDescription] = []
        var entries: [UTF8Key: Entry] = [:]
        let sharedErrors = sharedParameters.flatMap(\.errors) + authorizationErrors
        for type in types {
            let (method, entry) = Self.register(
                type,
                at: methods.count,
                sharedParameters: sharedParameters,
                sharedErrors: sharedErrors
            )
            method.validate()
            precondition(entries.updateValue(entry, forKey: method.name) == nil, "\(method.name) is registered twice")
            methods.append(method)
        }
        let discover = MethodDescription.discover(
            requiredPermission: permission.rawValue,
            parameters: sharedParameters.map(\.declaration),
            errors: sharedErrors
        )
        methods.append(discover)
        let document = OpenRPCDocument.encode(info, methods: methods)
        entries[discover.name] = Entry(index: methods.count - 1, expectedResponseBytes: document.count) { params, context in
            try context.authorize(permission)
            let arguments = try Arguments(params, declared: discover.parameters)
            _ = try await SharedParameter.selectContext(with: sharedParameters, from: arguments, in: context)
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
        at index: Int,
        sharedParameters: [SharedParameter<Context>],
        sharedErrors: [ErrorDescription]
    ) -> (MethodDescription, Entry) {
        let method = MethodDescription(
            name: Method.name,
            summary: Method.summary,
            requiredPermission: Method.requiredPermission.rawValue,
            parameters: Method.parameters + sharedParameters.map(\.declaration),
            result: Method.result,
            errors: Method.errors + sharedErrors.filter { error in !Method.errors.contains { $0.code == error.code } },
            examples: Method.examples
        )
        for example in method.examples {
            do {
                _ = try Method.params(from: Arguments(example.params.root, declared: method.parameters))
            } catch {
                preconditionFailure("\(method.name): the example \"\(example.name)\" has invalid parameters: \(error)")
            }
        }
        let entry = Entry(index: index, expectedResponseBytes: Method.expectedResponseBytes) { params, context in
            try context.authorize(Method.requiredPermission)
            let arguments = try Arguments(params, declared: method.parameters)
            let context = try await SharedParameter.selectContext(with: sharedParameters, from: arguments, in: context)
            let result = try await Method.call(Method.params(from: arguments), in: context)
            return { Method.write(result, to: &$0) }
        }
        return (method, entry)
    }
}
