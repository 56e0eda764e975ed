/// A choice among several that is made by going to an address: a view of a page, a page size. In forms it is an ``Option``.
struct Choice: Sendable {
    let text: String
    let url: String
    let isCurrent: Bool
}
