import HearthService
import StrictJSON

/// All methods, with commands to copy and a form to try each.
struct DocumentationPage: Page {
    static let template = TemplateLibrary.Name.documentation

    var chrome = PageChrome(title: localized("Calls"))
    private let reference: CallReference
    private let methods: [MethodView]
    private let needsKey: Bool

    /// - Parameters:
    ///   - curl: How the server is called, for the examples.
    ///   - needsKey: Whether calls need a key.
    ///   - tried: The call that a form asked for, and its answer.
    init(
        _ reference: CallReference,
        curl: CurlCommand,
        needsKey: Bool,
        tried: (call: TriedCall, answer: CallAnswer)? = nil
    ) {
        self.reference = reference
        self.needsKey = needsKey
        methods = reference.methods.map { method in
            MethodView(method, curl: curl, tried: tried.flatMap { $0.call.method == method.name ? $0 : nil })
        }
    }

    func content(named name: String) -> Any? {
        switch name {
        case "methods": methods
        case "schemas": reference.schemas
        case "description": reference.description
        case "needsKey": needsKey
        case "isDocumentation": true
        default: nil
        }
    }
}
