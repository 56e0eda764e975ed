internal import UTF8Text

/// The versions of the language.
enum RulesVersion: Sendable {
    case one
    case two
}

/// The syntax tree of a rules file.
struct FileSyntax: Sendable {
    var version = RulesVersion.one
    var functions: [FunctionSyntax] = []
    var service: ServiceSyntax?
}

/// A service block.
struct ServiceSyntax: Sendable {
    var functions: [FunctionSyntax] = []
    var matches: [MatchSyntax] = []
}

/// A match block.
struct MatchSyntax: Sendable {
    var path: [PatternSegment]
    var pathRange: SourceRange
    var functions: [FunctionSyntax] = []
    var matches: [MatchSyntax] = []
    var allows: [AllowSyntax] = []
}

/// A segment of the path of a match block.
enum PatternSegment: Hashable, Sendable {
    case literal(UTF8Key)
    /// `{name}`: one segment.
    case wildcard(String)
    /// `{name=**}`: any number of segments.
    case glob(String)

    /// The name that the segment binds.
    var name: String? {
        switch self {
        case .literal: nil
        case .wildcard(let name), .glob(let name): name
        }
    }

    var isGlob: Bool {
        if case .glob = self { true } else { false }
    }
}

/// An allow statement.
struct AllowSyntax: Sendable {
    var methods: [RuleMethod]
    /// The condition; `nil` if there is none, which allows always.
    var condition: Expression?
    var range: SourceRange
}

/// A function declaration.
struct FunctionSyntax: Sendable {
    var name: Identifier
    var parameters: [Identifier]
    var bindings: [Binding]
    var result: Expression

    /// A `let` binding.
    struct Binding: Sendable {
        var name: Identifier
        var value: Expression
    }
}

/// A name in the text.
struct Identifier: Sendable {
    var name: String
    var range: SourceRange
}

/// A method that a rule may allow: one of the five that requests have, or a group of them.
enum RuleMethod: String, Sendable, CaseIterable {
    case read
    case write
    case get
    case list
    case create
    case update
    case delete

    /// The methods of requests that this one stands for.
    var requestMethods: [RequestMethod] {
        switch self {
        case .read: [.get, .list]
        case .write: [.create, .update, .delete]
        case .get: [.get]
        case .list: [.list]
        case .create: [.create]
        case .update: [.update]
        case .delete: [.delete]
        }
    }
}

/// The method of a request to the rules.
package enum RequestMethod: String, Hashable, Sendable, CaseIterable {
    /// A read of one document by its name.
    case get
    /// A query, an aggregation or the listing of a collection.
    case list
    /// A write to a document that does not exist.
    case create
    /// A write to a document that exists.
    case update
    /// A deletion.
    case delete
}
