import StrictJSON
import UTF8Text

/// A method on the API reference page: its description, commands to copy and a form to call it.
struct MethodView: Sendable {
    /// An example with its shell command.
    struct Example: Sendable {
        let id: String
        let name: String
        let command: String
        let result: String
    }

    private let method: MethodReference
    private let examples: [Example]
    private let command: String?
    private let formParams: String
    private let result: MethodCallResult?

    /// - Parameter submitted: The call of this method that the form submitted, with its result.
    init(_ method: MethodReference, commands: ShellCommands, submitted: (call: MethodCall, result: MethodCallResult)?) {
        self.method = method
        examples = method.examples.enumerated().map { index, example in
            Example(
                id: "example-\(method.name)-\(index + 1)",
                name: example.name,
                command: commands.curl(calling: method.name, params: example.params.rawBytes),
                result: example.result
            )
        }
        command = examples.isEmpty ? commands.curl(calling: method.name, params: nil) : nil
        formParams = submitted?.call.params ?? method.examples.first.map { JSONPrettyPrinter.text($0.params) } ?? ""
        result = submitted?.result
    }
}

extension ShellCommands {
    fileprivate func curl(calling method: UTF8Key, params: ArraySlice<UInt8>?) -> String {
        curl(String(decoding: MethodCall.request(method, params: params), as: UTF8.self))
    }
}

extension MethodView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "method": method.name.string
        case "summary": method.summary
        case "requiredRole": method.requiredRole
        case "params": method.params
        case "hasParams": !method.params.isEmpty
        case "result": method.result.orAbsent
        case "errors": method.errors
        case "hasErrors": !method.errors.isEmpty
        case "examples": examples
        case "command": command.orAbsent
        case "formParams": formParams
        case "formURL": "\(AdminURL.documentation)#try-\(method.name)"
        case "callResult": result.orAbsent
        default: nil
        }
    }
}

extension MethodView.Example: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "id": id
        case "name": self.name
        case "command": command
        case "result": result
        default: nil
        }
    }
}
