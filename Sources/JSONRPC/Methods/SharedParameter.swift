/// A parameter that every method of a table takes behind its own, `rpc.discover` included, and that is checked before the
/// method is called.
///
/// ```swift
/// SharedParameter(
///     Parameter<String?>("database", "The database."),
///     refusedWith: ErrorDescription(5, "There is no such database.")
/// ) { name, location, context in
///     …
/// }
/// ```
package struct SharedParameter<Context: RPCContext>: Sendable {
    let declaration: any ParameterDescription
    /// How a call is refused.
    let error: ErrorDescription
    /// Checks what a call gave for it.
    let check: @Sendable (Arguments, Context) throws -> Void

    /// Makes the parameter.
    ///
    /// - Parameters:
    ///   - parameter: Its declaration; it has to be optional, since it stands behind the methods' own.
    ///   - error: The error that `check` throws, which every method lists among its own.
    ///   - check: Refuses the call by throwing; it gets the value, where it stands, and the call's context.
    package init<Value>(
        _ parameter: Parameter<Value?>,
        refusedWith error: ErrorDescription,
        check: @escaping @Sendable (Value, ParameterLocation, Context) throws -> Void
    ) {
        self.declaration = parameter
        self.error = error
        self.check = { arguments, context in
            guard let value = try arguments[parameter] else { return }
            try check(value, arguments.location(of: parameter), context)
        }
    }
}
