/// The limits of the language and of its evaluation.
package enum RulesLimits {
    /// The maximum size of a file in bytes.
    package static let sourceBytes = 256 * 1_024
    /// The maximum number of expressions that the rules of one document, or of one disjunct of a query, may evaluate.
    package static let expressions = 1_000
    /// The maximum number of expressions for all writes of one commit.
    package static let expressionsPerCommit = 20_000
    /// The maximum number of documents that the rules of one operation may read.
    package static let accessesPerOperation = 10
    /// The maximum number of documents that the rules of all operations of one request may read.
    package static let accessesPerBatch = 20

    /// The maximum number of expressions in a file. Firestore limits the compiled size instead, to 250 KB.
    package static let nodes = 50_000

    static let matchDepth = 10
    static let patternSegments = 100
    static let wildcards = 20
    static let parameters = 7
    /// Firestore documents 10, but accepts 11.
    static let bindings = 11
    /// Firestore documents 20 calls, but accepts 21 functions on a stack.
    static let callStack = 21
    /// The maximum number of expressions one inside another, over calls of functions: at most 384 KiB of stack
    /// in a release build, and 3 MiB in a debug build.
    static let evaluationDepth = 500
    /// The maximum work of one evaluation beside its expressions: about one unit for each byte, element or step of an automaton
    /// that functions read or make. It bounds time and memory whatever the values are.
    static let work = 8_000_000
    /// The maximum work for all operations of one request.
    static let workPerCommit = 80_000_000
}
