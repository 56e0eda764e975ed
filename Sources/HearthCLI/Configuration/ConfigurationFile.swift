import Configuration
import DocumentModel
import Foundation
import StrictJSON
import UTF8Text

/// A configuration file of `hearth serve`: a JSON object whose members are settings.
///
/// ```json
/// {"data": "/var/lib/hearth", "port": 9000, "allowHost": ["data.example.org"]}
/// ```
///
/// Unknown members are errors: a restriction with a misspelled name would not restrict anything.
struct ConfigurationFile: Sendable {
    /// A member of the file.
    struct Member: Sendable {
        let setting: ServeSetting
        let content: ConfigContent
        /// The line of the value, from 1.
        let line: Int
    }

    /// The path of the file.
    let path: String
    let members: [Member]

    private static let maximumBytes = 1 << 20

    /// Reads a file. Blocks.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the location of the first error; an error for a file that cannot be read.
    init(readingFrom path: String) throws(StatusError) {
        try self.init(InputFile(path).readToEnd(maximumBytes: Self.maximumBytes), path: path)
    }

    /// Parses a file.
    ///
    /// - Parameter path: The path of the file, to which paths in it are relative.
    /// - Throws: ``StatusCode/invalidArgument`` with the location of the first error.
    init(_ bytes: [UInt8], path: String) throws(StatusError) {
        self.path = path
        let json = try ConfigurationJSON(bytes, name: "The configuration", path: path)
        guard let found = json.root.members else {
            throw json.error("Expected an object whose members are settings, found \(json.root.kind).", at: json.root)
        }
        var members: [Member] = []
        for (name, value) in found {
            guard let setting = ServeSetting.all.first(where: { UTF8Key($0.name) == name }) else {
                throw json.error(
                    "There is no setting \(Excerpt(name.string)).\(Self.advice(for: name.string))",
                    at: value
                )
            }
            guard let content = setting.kind.content(value, inFolderOf: path) else {
                let found = Excerpt(String(decoding: value.rawBytes, as: UTF8.self)).text
                throw json.error("\(setting.name): Expected \(setting.kind.expectation), found \(found).", at: value)
            }
            members.append(Member(setting: setting, content: content, line: value.position().line))
        }
        self.members = members
    }

    /// Returns a hint to the setting that was probably meant: one with the same letters.
    private static func advice(for name: String) -> String {
        let letters = name.lowercased().filter(\.isLetter)
        let meant = ServeSetting.all.first { setting in
            let known = setting.name.lowercased()
            return known == letters || known + "s" == letters || known == letters + "s"
        }
        return meant.map { " Did you mean \($0.name)?" } ?? " `hearth config show` lists all settings."
    }
}

extension ServeSetting.Kind {
    fileprivate var expectation: String {
        switch self {
        case .string: "a string"
        case .path: "a path, as a string that is not empty"
        case .integer: "an integer"
        case .number: "a number"
        case .boolean: "true or false"
        case .strings: "a list of strings"
        }
    }

    /// Returns a value of the file; `nil` for one of another kind.
    fileprivate func content(_ node: JSONNode, inFolderOf file: String) -> ConfigContent? {
        switch self {
        case .string: return node.string.map { .string($0) }
        case .path:
            guard let path = node.string, !path.utf8.isEmpty else { return nil }
            guard path.utf8.first != UInt8(ascii: "/"), file.utf8.contains(UInt8(ascii: "/")) else { return .string(path) }
            return .string(URL(filePath: file).deletingLastPathComponent().appending(path: path).path(percentEncoded: false))
        case .integer:
            guard case .integer(let value) = node.number else { return nil }
            return .int(Int(value))
        case .number:
            switch node.number {
            case .integer(let value): return .double(Double(value))
            case .double(let value): return .double(value)
            case .outOfRange, nil: return nil
            }
        case .boolean: return node.boolean.map { .bool($0) }
        case .strings:
            guard let elements = node.elements else { return nil }
            let strings = elements.map(\.string)
            return strings.contains(nil) ? nil : .stringArray(strings.compactMap(\.self))
        }
    }
}
