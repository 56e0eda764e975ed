import DocumentModel
import StrictJSON

/// A call that the form of the documentation asks for.
struct TriedCall: Sendable {
    let method: UTF8Key
    /// The text of the parameters as it was written: JSON, or nothing.
    let params: String

    /// A call in the database whose page is made.
    ///
    /// - Parameter params: The parameters: an object of JSON, or nothing.
    init(_ method: UTF8Key, params: [UInt8] = []) {
        self.method = method
        let inDatabase = AdminURL.database.map { params.addingMember("database", $0.description) } ?? params
        self.params = String(decoding: inDatabase, as: UTF8.self)
    }

    /// Takes what the form sent; nil when it is not that.
    init?(_ form: Form) {
        guard let method = form["method"] else { return nil }
        self.method = method
        params = form["params"]?.string ?? ""
    }

    /// The request to send.
    ///
    /// - Throws: `JSONSyntaxError` when the parameters are not JSON, with the place in their text.
    func request() throws(JSONSyntaxError) -> [UInt8] {
        let isBlank = params.utf8.allSatisfy(\.isJSONWhitespace)
        let node = isBlank ? nil : try JSONText(params).root
        return Self.request(method, params: node?.rawBytes)
    }

    /// A request of a method.
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

/// What a call was answered with, for the page.
struct CallAnswer: Sendable {
    let isError: Bool
    let text: String
}

extension CallAnswer {
    /// The form was shown before the server was started again, or to somebody else.
    static var stale: CallAnswer { CallAnswer(isError: true, text: FormProblems.staleText) }

    /// - Parameter response: A response of JSON-RPC.
    init(response: [UInt8]) {
        let response = try? JSONText(response).root
        let error = response?["error"]
        isError = error != nil
        text = (error ?? response?["result"]).map(JSONOutline.text) ?? ""
    }
}

extension CallAnswer: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "isError": isError
        case "text": text
        default: nil
        }
    }
}
