/// What methods are called in: what they work on, and who calls.
///
/// It decides whether the caller may call a method, by the right that the method declares.
package protocol RPCContext: Sendable {
    /// What a caller may have a right to do. Its name stands in the documentation.
    associatedtype Right: RawRepresentable<String>, Sendable

    /// Makes sure that the caller has a right. This is asked before a call's parameters are looked at.
    ///
    /// - Throws: What the call is answered with, as of a method.
    func authorize(_ right: Right) throws
}
