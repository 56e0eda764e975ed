internal import Synchronization

/// What a request body is answered with: one response, or an array of them, as compact JSON.
///
/// It comes in pieces, so that what has been sent takes no memory any more. Its room in the ``AnswerBudget`` is given back
/// piece by piece, and what is left of it when nobody holds the answer.
package final class RPCAnswer: Sendable {
    /// The pieces that are left, the next one last.
    private let rest: Mutex<[[UInt8]]>
    private let share: AnswerBudget.Share

    /// The length of all pieces.
    package let byteCount: Int

    /// - Parameters:
    ///   - byteCount: The length of all pieces.
    ///   - share: The room that they take; at least as much has been taken.
    package init(_ pieces: [[UInt8]], byteCount: Int, share: AnswerBudget.Share) {
        self.byteCount = byteCount
        rest = Mutex(pieces.reversed())
        self.share = share
        // Never more than was taken to build it.
        share.shrink(to: byteCount)
    }

    /// The next piece; nil at the end. All pieces before it must have been sent.
    package func next() -> [UInt8]? {
        rest.withLock { rest in
            share.shrink(to: rest.reduce(0) { $0 + $1.count })
            return rest.popLast()
        }
    }

    /// Everything at once, which gives all of its room back.
    package func joined() -> [UInt8] {
        let pieces = rest.withLock { rest in
            defer { rest = [] }
            return rest
        }
        share.shrink(to: 0)
        return pieces.count == 1 ? pieces[0] : Array(pieces.reversed().joined())
    }
}
