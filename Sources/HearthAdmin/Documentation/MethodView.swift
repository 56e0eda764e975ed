import StrictJSON
import UTF8Text

/// A method on the API reference page: its description, commands to copy and a form to call it.
struct MethodView: ViewModel {
    /// An example with its shell command.
    struct Example: ViewModel {
        let id: String
        let name: String
        let command: String
        let result: String
    }

    private let method: String
    private let summary: String
    private let requiredRole: String
    private let params: [MethodReference.Content]
    private let hasParams: Bool
    private let result: MethodReference.Content?
    private let errors: [MethodReference.MethodError]
    private let hasErrors: Bool
    private let examples: [Example]
    /// A call without parameters, for a method without examples.
    private let command: String?
    private let formURL: String
    private let formParams: String
    /// True if calls change data; they need a confirmation.
    private let changesData: Bool
    /// The parameters to confirm; `nil` if no call awaits confirmation.
    private let unconfirmedParams: String?
    private let callResult: MethodCallResult?

    /// - Parameter submitted: The call of this method that the form submitted, with its result, which is `nil` for a call that
    ///   awaits confirmation.
    init(_ method: MethodReference, commands: ShellCommands, submitted: DocumentationPage.SubmittedCall?) {
        self.method = method.name.string
        summary = method.summary
        requiredRole = method.requiredRole
        params = method.params
        hasParams = !method.params.isEmpty
        result = method.result
        errors = method.errors
        hasErrors = !method.errors.isEmpty
        examples = method.examples.enumerated().map { index, example in
            Example(
                id: "example-\(method.name)-\(index + 1)",
                name: example.name,
                command: commands.curl(calling: method.name, params: example.params.rawBytes),
                result: example.result
            )
        }
        command = examples.isEmpty ? commands.curl(calling: method.name, params: nil) : nil
        formURL = "\(AdminURL.documentation)#try-\(method.name)"
        changesData = method.changesData
        // Examples name documents that may exist, so that one press of the button would change or delete them.
        let example = changesData ? nil : method.examples.first.map { JSONPrettyPrinter.text($0.params) }
        formParams = submitted?.call.params ?? example ?? ""
        unconfirmedParams = submitted.flatMap { $0.result == nil ? $0.call.params : nil }
        callResult = submitted?.result
    }
}

extension ShellCommands {
    fileprivate func curl(calling method: UTF8Key, params: ArraySlice<UInt8>?) -> String {
        curl(String(decoding: MethodCall.request(method, params: params), as: UTF8.self))
    }
}
