/// One value of those that are being encoded or decoded, in the value around it.
protocol CodingNode: AnyObject {
    /// The value that it stands in; nil at the top.
    var parent: Self? { get }
    /// The key at which it stands; nil at the top.
    var key: (any CodingKey)? { get }
}

extension CodingNode {
    /// All keys from the top down to this value.
    var codingPath: [any CodingKey] {
        let outer = parent?.codingPath ?? []
        return key.map { outer + [$0] } ?? outer
    }

    func codingPath(to key: (any CodingKey)?) -> [any CodingKey] {
        key.map { codingPath + [$0] } ?? codingPath
    }
}
