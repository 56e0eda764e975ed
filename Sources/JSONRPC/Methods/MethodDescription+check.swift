import StrictJSON

extension MethodDescription {
    /// The longest name of a method, in bytes.
    static let maximumNameBytes = 256

    /// Stops the program when the method's declaration contradicts itself or the rules of JSON-RPC and OpenRPC.
    func check() {
        precondition((1...Self.maximumNameBytes).contains(name.byteCount), "\(name) is not a name")
        precondition(!name.utf8.starts(with: "rpc.".utf8), "\(name): names beginning with rpc. belong to JSON-RPC")
        precondition(Set(parameters.map(\.name)).count == parameters.count, "\(name) has two parameters of one name")
        let requiredCount = parameters.prefix { $0.isRequired }.count
        precondition(!parameters.dropFirst(requiredCount).contains { $0.isRequired }, "\(name): required parameters come first")
        precondition(Set(errors.map(\.code)).count == errors.count, "\(name) declares an error code twice")
        precondition(!errors.contains { $0.code.isReserved }, "\(name) declares an error code of JSON-RPC's own")
        precondition(examples.allSatisfy { $0.params.root.kind == .object }, "\(name): an example gives its parameters by name")
    }

    /// The built-in method that describes all the others.
    static func discover(
        right: String,
        parameters: [any ParameterDescription],
        errors: [ErrorDescription]
    ) -> MethodDescription {
        MethodDescription(
            name: "rpc.discover",
            summary: "This description of all methods, as an OpenRPC document.",
            right: right,
            parameters: parameters,
            result: ResultDescription("document", .map(of: .any), "An OpenRPC document."),
            errors: errors,
            examples: []
        )
    }
}
