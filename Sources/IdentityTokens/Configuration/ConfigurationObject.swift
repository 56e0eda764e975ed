import DocumentModel
import StrictJSON
import UTF8Text

/// An error in the configuration file, with the JSON node that caused it.
struct IssuersFileError: Error {
    let node: JSONNode
    let path: String
    let message: String

    init(_ node: JSONNode, path: String, _ message: String) {
        self.node = node
        self.path = path.utf8.isEmpty ? "The file" : path
        self.message = message
    }
}

/// A JSON object with a closed set of members.
struct ConfigurationObject {
    private let node: JSONNode
    private let path: String

    init(_ node: JSONNode, path: String, members: [UTF8Key]) throws(IssuersFileError) {
        self.node = node
        self.path = path
        guard let found = node.members else {
            throw IssuersFileError(node, path: path, "Expected an object, found \(node.kind).")
        }
        for (name, value) in found where !members.contains(name) {
            let names = members.map(\.string).joined(separator: ", ")
            throw IssuersFileError(value, path: path, "The member \(Excerpt(name.string)) is unknown. The members are \(names).")
        }
    }

    func optional(_ name: UTF8Key) -> ConfigurationMember? {
        node[name].map { ConfigurationMember(name: name, node: $0, path: (path.utf8.isEmpty ? "" : path + ".") + name.string) }
    }

    func required(_ name: UTF8Key, _ expected: String) throws(IssuersFileError) -> ConfigurationMember {
        guard let member = optional(name) else { throw error("Expected a member \(name) with \(expected), found none.") }
        return member
    }

    func error(_ message: String) -> IssuersFileError {
        IssuersFileError(node, path: path, message)
    }

    /// Returns an error about the member that is the error's parameter path.
    func error(_ error: StatusError) -> IssuersFileError {
        guard let member = error.parameterPath.flatMap({ optional(UTF8Key($0)) }) else { return self.error(error.message) }
        return IssuersFileError(member.node, path: member.path, error.message)
    }
}

/// The value of a member, or an element of such a list.
struct ConfigurationMember {
    let name: UTF8Key
    let node: JSONNode
    let path: String

    func string() throws(IssuersFileError) -> String {
        guard let string = node.string else { throw error(expected: "a string") }
        return string
    }

    func nonEmptyString() throws(IssuersFileError) -> String {
        let string = try string()
        guard !string.utf8.isEmpty else { throw error(expected: "a string that is not empty") }
        return string
    }

    func elements() throws(IssuersFileError) -> [ConfigurationMember] {
        guard let elements = node.elements else { throw error(expected: "a list of strings") }
        return elements.enumerated().map { ConfigurationMember(name: name, node: $0.element, path: "\(path)[\($0.offset)]") }
    }

    func strings() throws(IssuersFileError) -> [String] {
        var strings: [String] = []
        for element in try elements() { strings.append(try element.string()) }
        return strings
    }

    func error(expected: String) -> IssuersFileError {
        let found = node.string.map { "the string \(Excerpt($0))" } ?? "\(node.kind)"
        return IssuersFileError(node, path: path, "Expected \(expected), found \(found).")
    }

    /// Calls `body`, and adds this path to its error.
    func locating<Result>(_ body: () throws(StatusError) -> Result) throws(IssuersFileError) -> Result {
        do throws(StatusError) {
            return try body()
        } catch {
            throw IssuersFileError(node, path: path, error.message)
        }
    }
}
