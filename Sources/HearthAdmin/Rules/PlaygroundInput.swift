import DocumentModel
import HearthAPI
import JSONRPC
import SecurityRules
import StrictJSON
import UTF8Text

/// The input of the playground: rules, and a request that they decide.
struct PlaygroundInput: Sendable {
    /// The text of the rules.
    var rules: String
    /// The version of the database's own file that was edited; `nil` for no file.
    var base: UTF8Key?
    var method = RequestMethod.get
    var path = ""
    var isSignedIn = false
    var uid = ""
    /// The claims of the user, a JSON object.
    var claims = ""
    /// The fields of the written document in Hearth's JSON.
    var data = ""
    /// True if an update keeps the stored fields that ``data`` does not have.
    var keepsFields = false
    /// The parameters of `query.run`.
    var query = ""

    /// Creates the input to begin with.
    init(_ editor: RulesInput) {
        (rules, base) = (editor.text, editor.base)
    }

    /// Reads the input of a form.
    init(_ form: Form) {
        self.init(RulesInput(form))
        method = form["method"].flatMap { RequestMethod(rawValue: $0.string) } ?? .get
        path = form.text("path")
        isSignedIn = form.has("signed-in")
        uid = form["uid"]?.string ?? ""
        claims = form["claims"]?.string ?? ""
        data = form["data"]?.string ?? ""
        keepsFields = form.has("keep")
        query = form["query"]?.string ?? ""
    }
}

/// A hypothetical request.
struct PlaygroundRequest: Sendable {
    /// The target and the data of a request.
    enum Operation: Sendable {
        case get(DocumentPath)
        case list(ListQuery)
        case create(DocumentPath, MapValue)
        case update(DocumentPath, MapValue, keepsFields: Bool)
        case delete(DocumentPath)
    }

    let operation: Operation
    let authentication: RulesRequest.Authentication?
}

// Parsing.
extension PlaygroundInput {
    /// Returns the request.
    ///
    /// - Parameter problems: Receives the errors. If there are any, the result is `nil`.
    func request(addingTo problems: inout FormProblems) -> PlaygroundRequest? {
        let authentication = isSignedIn ? authentication(addingTo: &problems) : nil
        guard let operation = operation(addingTo: &problems), problems.isEmpty else { return nil }
        return PlaygroundRequest(operation: operation, authentication: authentication)
    }

    private func authentication(addingTo problems: inout FormProblems) -> RulesRequest.Authentication? {
        if uid.utf8.isEmpty { problems.add(localized("Enter the ID of the user."), at: "uid") }
        do throws(JSONSyntaxError) {
            let text = try JSONText(Self.isBlank(claims) ? "{}" : claims)
            if text.root.kind != .object { problems.add(localized("Expected a JSON object."), at: "claims") }
            return RulesRequest.Authentication(uid: UTF8Key(uid), claims: text.root)
        } catch {
            problems.add("\(error)", at: "claims")
            return nil
        }
    }

    private func operation(addingTo problems: inout FormProblems) -> PlaygroundRequest.Operation? {
        if method == .list { return listQuery(addingTo: &problems).map { .list($0) } }
        let writes = method == .create || method == .update
        let fields = writes ? fields(addingTo: &problems) : nil
        let document: DocumentPath
        do throws(StatusError) {
            document = try DocumentPath(relativePath)
        } catch {
            problems.add(error.message, at: "path")
            return nil
        }
        switch method {
        case .get, .list: return .get(document)
        case .delete: return .delete(document)
        case .create: return fields.map { .create(document, $0) }
        case .update: return fields.map { .update(document, $0, keepsFields: keepsFields) }
        }
    }

    private func fields(addingTo problems: inout FormProblems) -> MapValue? {
        do throws(JSONInput.InvalidInput) {
            return try JSONInput.fields(Self.isBlank(data) ? "{}" : data)
        } catch {
            let location = error.location.map { " (\($0.line):\($0.column))" } ?? ""
            problems.add(error.message + location, at: "data")
            return nil
        }
    }

    /// Returns the query: that of the path's collection, unless the parameters name another source.
    private func listQuery(addingTo problems: inout FormProblems) -> ListQuery? {
        do {
            let root = try JSONText(Self.isBlank(query) ? "{}" : query).root
            var collection: CollectionPath?
            if !Self.sourceKeys.contains(where: { root[$0] != nil }) {
                do throws(StatusError) {
                    collection = try CollectionPath(relativePath)
                } catch {
                    problems.add(error.message, at: "path")
                    return nil
                }
            }
            let params = Self.params(root, of: collection)
            let query = try RunQuery.params(from: Arguments(json: params, of: RunQuery.self)).query
            // The orders that a server shows to rules.
            return ListQuery(query, orders: query.orders.filter { !$0.isByName })
        } catch let error as JSONSyntaxError {
            problems.add("\(error)", at: "query")
        } catch let error as any RPCErrorConvertible {
            let invalid = CollectionQuery.ValidationError(error.rpcError, filterCount: 0)
            let location = invalid.parameterPath.map { "\($0): " } ?? ""
            problems.add(location + invalid.message, at: "query")
        } catch {
            problems.add("\(error)", at: "query")
        }
        return nil
    }

    /// Returns the parameters of `query.run` as JSON, with a collection.
    private static func params(_ root: JSONNode, of collection: CollectionPath?) -> [UInt8] {
        guard let members = root.members else { return Array(root.rawBytes) }
        var writer = JSONWriter()
        writer.beginObject()
        if let collection {
            writer.key("collection")
            writer.string(collection.string)
        }
        for (key, value) in members {
            writer.key(key)
            writer.raw(value.rawBytes)
        }
        writer.endObject()
        return writer.finish()
    }

    private static let sourceKeys: [UTF8Key] = ["collection", "collectionGroup", "allDescendants"]

    /// The path relative to the documents of the database: without `/databases/(default)/documents/`, as rules name it.
    private var relativePath: String {
        let segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard path.utf8.first == UInt8(ascii: "/") else { return path }
        let isAbsolute =
            segments.count > 4 && segments[1].elementsEqual("databases".utf8) && segments[3].elementsEqual("documents".utf8)
        return String(Substring(path.utf8.dropFirst(isAbsolute ? segments[1...3].reduce(4) { $0 + $1.count } : 1)))
    }

    private static func isBlank(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 <= UInt8(ascii: " ") }
    }
}
