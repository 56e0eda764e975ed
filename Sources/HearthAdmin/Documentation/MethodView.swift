import StrictJSON

/// A method on the page of the documentation: what is known of it, commands to copy, and the form to try it.
struct MethodView: Sendable {
    /// An example with its command.
    struct Example: Sendable {
        let id: String
        let name: String
        let command: String
        let result: String
    }

    private let method: MethodReference
    private let examples: [Example]
    private let command: String?
    private let form: String
    private let answer: CallAnswer?

    /// - Parameter tried: The call that the form asked for and its answer, when it was of this method.
    init(_ method: MethodReference, curl: CurlCommand, tried: (call: TriedCall, answer: CallAnswer)?) {
        self.method = method
        examples = method.examples.enumerated().map { index, example in
            Example(
                id: "example-\(method.name)-\(index + 1)",
                name: example.name,
                command: curl.call(of: method.name, params: example.params.rawBytes),
                result: example.result
            )
        }
        command = examples.isEmpty ? curl.call(of: method.name, params: nil) : nil
        form = tried?.call.params ?? method.examples.first.map { JSONOutline.text($0.params) } ?? ""
        answer = tried?.answer
    }
}

extension CurlCommand {
    fileprivate func call(of method: UTF8Key, params: ArraySlice<UInt8>?) -> String {
        call(String(decoding: TriedCall.request(method, params: params), as: UTF8.self))
    }
}

extension MethodView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "method": method.name.string
        case "summary": method.summary
        case "right": method.right
        case "params": method.params
        case "hasParams": !method.params.isEmpty
        case "result": method.result.orAbsent
        case "errors": method.errors
        case "hasErrors": !method.errors.isEmpty
        case "examples": examples
        case "command": command.orAbsent
        case "form": form
        case "formURL": "\(AdminURL.documentation)#try-\(method.name)"
        case "answer": answer.orAbsent
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
