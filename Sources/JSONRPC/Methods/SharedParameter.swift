/// A parameter that every method of a table has after its own, including `rpc.discover`, and that selects the context in which
/// the method is called.
///
/// ```swift
/// SharedParameter(
///     Parameter<String?>("database", "The database."),
///     errors: [ErrorDescription(5, "The database does not exist.")]
/// ) { name, location, context in
///     …
/// }
/// ```
package struct SharedParameter<Context: RPCContext>: Sendable {
    let declaration: any ParameterDescription
    /// The errors that the selection throws.
    let errors: [ErrorDescription]
    /// Returns a closure that selects the context, or `nil` if the parameter is absent.
    let selection: @Sendable (Arguments, Context) throws -> (@Sendable () async throws -> Context)?

    /// Creates the parameter.
    ///
    /// - Parameters:
    ///   - parameter: The declaration; optional, since it follows the methods' own parameters.
    ///   - errors: The errors that `select` throws, which every method lists among its own.
    ///   - select: Returns the context for the method, or throws to reject the call. It receives the value, its location and the
    ///     context of the request.
    package init<Value: Sendable>(
        _ parameter: Parameter<Value?>,
        errors: [ErrorDescription],
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
    /// Returns the context for a call with these arguments. Does not suspend when none of the parameters is present.
    static func selectContext(
        with parameters: [SharedParameter],
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
