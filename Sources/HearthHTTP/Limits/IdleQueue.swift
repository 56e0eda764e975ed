/// The idle connections in the order in which they became idle.
///
/// A doubly linked list, so that every operation takes constant time.
struct IdleQueue {
    /// The neighbors of a connection.
    private struct Links {
        var previous: ConnectionSlots.ID?
        var next: ConnectionSlots.ID?
    }

    private var links: [ConnectionSlots.ID: Links] = [:]
    /// The connection that has been idle longest.
    private(set) var first: ConnectionSlots.ID?
    private var last: ConnectionSlots.ID?

    /// Appends a connection that has just become idle and is not in the queue.
    mutating func append(_ id: ConnectionSlots.ID) {
        links[id] = Links(previous: last)
        if let last { links[last]?.next = id } else { first = id }
        last = id
    }

    /// Removes a connection, if it is in the queue.
    mutating func remove(_ id: ConnectionSlots.ID) {
        guard let removed = links.removeValue(forKey: id) else { return }
        if let previous = removed.previous { links[previous]?.next = removed.next } else { first = removed.next }
        if let next = removed.next { links[next]?.previous = removed.previous } else { last = removed.previous }
    }
}
