/// The functions of the language that need more than its values.
package struct RulesEnvironment: Sendable {
    /// Returns the digest of bytes; CRCs have their bytes in little-endian order. `nil` if there are no such functions.
    package var digest: (@Sendable (DigestAlgorithm, [UInt8]) -> [UInt8])?
    /// Receives the text of the values that rules pass to `debug`. `nil` to discard them.
    package var debug: (@Sendable (String) -> Void)?
    /// The results of functions that read documents, in tests of rules.
    var mocks: [FunctionMock] = []

    /// Creates an environment.
    package init(
        digest: (@Sendable (DigestAlgorithm, [UInt8]) -> [UInt8])? = nil,
        debug: (@Sendable (String) -> Void)? = nil
    ) {
        self.digest = digest
        self.debug = debug
    }
}

/// A function of the package `hashing`.
package enum DigestAlgorithm: String, Hashable, Sendable, CaseIterable {
    case crc32
    case crc32c
    case md5
    case sha256
}
