/// A parameter that every method of a table takes behind its own, `rpc.discover` included, and that decides in which context
/// the method is called.
///
/// ```swift
/// SharedParameter(
///     Parameter<String?>("database", "The database."),
///     refusedWith: [ErrorDescription(5, "There is no such database.")]
/// ) { name, location, context in
///     …
/// }
/// ```
package struct SharedParameter<Context: RPCContext>: Sendable {
    let declaration: any ParameterDescription
    /// How a call may be refused.
    let errors: [ErrorDescription]
    /// What makes the context of a call by what it gave for the parameter; nil when it gave nothing.
    let selection: @Sendable (Arguments, Context) throws -> (@Sendable () async throws -> Context)?

    /// Makes the parameter.
    ///
    /// - Parameters:
    ///   - parameter: Its declaration; it has to be optional, since it stands behind the methods' own.
    ///   - errors: The errors that `select` throws, which every method lists among its own.
    ///   - select: Makes the context that the method is called in, or refuses the call by throwing; it gets the value, where it
    ///     stands, and the context that the call came with.
    package init<Value: Sendable>(
        _ parameter: Parameter<Value?>,
        refusedWith errors: [ErrorDescription],
        select: @escaping @Sendable (Value, ParameterLocation, Context) async throws -> Context
    ) {
        self.declaration = parameter
        self.errors = errors
        self.selection = { arguments, context in
            guard let value = try arguments[parameter] else { return nil }
            let location = arguments.location(of: parameter)
            return { try await select(value, location, context) }
        }
    }
}

extension SharedParameter {
    /// The context that a method is called in with these arguments. Nothing is waited for where they give none of the parameters.
    static func context(
        selectedBy parameters: [SharedParameter],
        from arguments: Arguments,
        in context: Context
    ) async throws -> Context {
        var context = context
        for parameter in parameters {
            if let select = try parameter.selection(arguments, context) { context = try await select() }
        }
        return context
    }
}
