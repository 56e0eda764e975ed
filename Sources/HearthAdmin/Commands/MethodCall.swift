import DocumentModel
import StrictJSON
import UTF8Text

/// A method call, with its parameters as text.
struct MethodCall: Sendable {
    let method: UTF8Key
    /// The text of the parameters: JSON, or an empty string.
    let params: String

    /// Creates a call in the database of the current page.
    ///
    /// - Parameter params: The parameters as a JSON object, or empty.
    init(_ method: UTF8Key, params: [UInt8] = []) {
        self.method = method
        let inDatabase = AdminURL.database.map { params.addingMember("database", $0.description) } ?? params
        self.params = String(decoding: inDatabase, as: UTF8.self)
    }

    /// Reads the call from a submitted form; returns `nil` if the form has no method.
    init?(_ form: Form) {
        guard let method = form["method"] else { return nil }
        self.method = method
        params = form["params"]?.string ?? ""
    }

    /// Returns the JSON-RPC request.
    ///
    /// - Throws: `JSONSyntaxError` with the position in the text when the parameters are not JSON.
    func request() throws(JSONSyntaxError) -> [UInt8] {
        let isBlank = params.utf8.allSatisfy(\.isJSONWhitespace)
        let node = isBlank ? nil : try JSONText(params).root
        return Self.request(method, params: node?.rawBytes)
    }

    /// Returns the JSON-RPC request for a method.
    static func request(_ method: UTF8Key, params: ArraySlice<UInt8>?) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("jsonrpc")
        writer.string("2.0")
        writer.key("id")
        writer.integer(1)
        writer.key("method")
        writer.string(method.string)
        if let params {
            writer.key("params")
            writer.raw(params)
        }
        writer.endObject()
        return writer.finish()
    }
}

/// The result or error of a method call.
struct MethodCallResult: ViewModel {
    let isError: Bool
    let text: String
}

extension MethodCallResult {
    /// The result for a form that was shown before a server restart or to another user.
    static var staleForm: MethodCallResult { MethodCallResult(isError: true, text: FormProblems.staleText) }

    /// - Parameter response: A JSON-RPC response.
    init(response: [UInt8]) {
        let response = try? JSONText(response).root
        let error = response?["error"]
        isError = error != nil
        text = (error ?? response?["result"]).map(JSONPrettyPrinter.text) ?? ""
    }
}
