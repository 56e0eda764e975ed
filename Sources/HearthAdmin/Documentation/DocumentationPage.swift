import HearthAPI

/// The API reference: all methods, each with commands to copy and a form to call it.
struct DocumentationPage: Page {
    static let template = TemplateLibrary.Name.documentation

    /// A call that a form submitted, with its result; the result is `nil` for a call that awaits confirmation.
    typealias SubmittedCall = (call: MethodCall, result: MethodCallResult?)

    var layout = PageLayout(title: localized("API reference"), section: .documentation)
    private let methods: [MethodView]
    private let schemas: [APIReference.Schema]
    private let description: String
    private let needsKey: Bool

    /// - Parameters:
    ///   - commands: Formats the examples as shell commands.
    ///   - needsKey: Whether calls require an API key.
    ///   - submitted: The call that a form submitted, with its result.
    init(
        _ reference: APIReference,
        commands: ShellCommands,
        needsKey: Bool,
        submitted: SubmittedCall? = nil
    ) {
        schemas = reference.schemas
        description = reference.description
        self.needsKey = needsKey
        methods = reference.methods.map { method in
            MethodView(method, commands: commands, submitted: submitted.flatMap { $0.call.method == method.name ? $0 : nil })
        }
    }
}
