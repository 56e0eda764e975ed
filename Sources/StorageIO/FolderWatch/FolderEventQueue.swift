internal import CLinux
package import Dispatch
internal import Glibc
internal import Synchronization

/// A queue of the changes to the entries of folders, with their names (`inotify`).
///
/// ``FolderWatcher`` tells a reader whether what it has read may be out of date. This queue tells a program that follows all changes
/// what has changed. The kernel queues an event before the system call that makes a change returns, so that a program that empties
/// the queue knows of all changes that were complete before.
///
/// A written file is reported when the program that wrote it closes it. Changes of metadata, writes through memory maps, and entries
/// whose names begin with a dot are not reported.
package final class FolderEventQueue: Sendable {
    /// A watched folder.
    package struct Watch: Hashable, Sendable {
        fileprivate let number: Int32
    }

    /// A change.
    package struct Event: Sendable {
        /// The type of a change.
        package enum Kind: Sendable {
            /// An entry was created, renamed or linked to the name, or a file was written and closed.
            case present
            /// An entry was removed or renamed away.
            case absent
            /// The watch has ended: the folder was removed, or its file system unmounted.
            case ended
        }

        /// The folder.
        package let watch: Watch
        /// The type.
        package let kind: Kind
        /// The name of the entry, which need not be UTF-8; empty for the folder itself.
        package let name: [UInt8]
        /// True if the entry is a folder.
        package let isFolder: Bool
    }

    /// The changes since the last call.
    package struct Events: Sendable {
        /// The changes in order.
        package var events: [Event] = []
        /// True if changes were lost, so that all folders may have changed.
        package var isOverflow = false
    }

    private let queue: SharedFileDescriptor
    private let dispatchQueue: DispatchQueue
    private let handler: @Sendable () -> Void
    private let state = Mutex(State())
    /// Held while the queue is read, so that events are returned in order.
    private let reading = Mutex(())

    private struct State {
        /// Ends the last wait for events.
        var cancel: @Sendable () -> Void = {}
        var isStopped = false
    }

    /// The time between two calls of the handler. For each event that is waited for, the program that makes the change wakes a thread up.
    private static let pause = DispatchTimeInterval.milliseconds(10)

    /// Opens a queue.
    ///
    /// - Parameters:
    ///   - dispatchQueue: The queue on which `handler` is called.
    ///   - handler: Called while there are events in the queue: at once for the first, and then every 10 ms.
    /// - Throws: `EMFILE` if the user has as many queues as the system permits (`fs.inotify.max_user_instances`).
    package init(on dispatchQueue: DispatchQueue, _ handler: @escaping @Sendable () -> Void) throws(FileSystemError) {
        queue = SharedFileDescriptor(try FileDescriptor.makeEventQueue())
        self.dispatchQueue = dispatchQueue
        self.handler = handler
        waitForEvents()
    }

    deinit {
        stop()
    }

    /// Stops calling the handler.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            state.cancel()
        }
    }

    private func waitForEvents() {
        // Sendable: sources may be used on any thread, which their type does not say.
        nonisolated(unsafe) let source = DispatchSource.makeReadSource(
            fileDescriptor: queue.descriptor.number,
            queue: dispatchQueue
        )
        source.setEventHandler { [weak self] in
            // A suspended source would still be woken up. Until it is canceled, source and handler retain each other.
            source.cancel()
            guard let self, !state.withLock(\.isStopped) else { return }
            handler()
            dispatchQueue.asyncAfter(deadline: .now() + Self.pause) { [weak self] in self?.waitForEvents() }
        }
        // The descriptor must stay open until then.
        source.setCancelHandler { [queue] in withExtendedLifetime(queue) {} }
        source.resume()
        state.withLock { state in
            state.cancel = { source.cancel() }
            if state.isStopped { state.cancel() }
        }
    }

    /// Watches an open folder. A folder that is watched already keeps its watch.
    ///
    /// - Throws: `ENOSPC` if the user has as many watches as the system permits (`fs.inotify.max_user_watches`).
    package func watch(_ folder: borrowing FileDescriptor) throws(FileSystemError) -> Watch {
        Watch(number: try queue.descriptor.addWatch(of: folder, for: UInt32(IN_CLOSE_WRITE)))
    }

    /// Removes all events from the queue, and passes them on in order. Never blocks on the disk.
    ///
    /// - Parameter body: Called while no other thread can read later events. Not called if there are none.
    package func withEvents(_ body: (Events) -> Void) {
        reading.withLock { _ in
            var events = Events()
            do throws(FileSystemError) {
                try read(into: &events)
            } catch {
                events.isOverflow = true
            }
            if !events.events.isEmpty || events.isOverflow { body(events) }
        }
    }

    private func read(into events: inout Events) throws(FileSystemError) {
        var failure: FileSystemError?
        withUnsafeTemporaryAllocation(byteCount: Self.bufferBytes, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
            while true {
                let count: Int
                do throws(FileSystemError) {
                    count = try FileDescriptor.call("read") {
                        Glibc.read(queue.descriptor.number, buffer.baseAddress, buffer.count)
                    }
                } catch {
                    if error.code != EAGAIN { failure = error }
                    return
                }
                var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                while !rest.isEmpty { events.append(removingFirstOf: &rest) }
                // Otherwise the queue is empty: another event would have fitted.
                if count <= buffer.count - Self.maximumEventBytes { return }
            }
        }
        if let failure { throw failure }
    }

    private static let bufferBytes = 16_384
    private static let maximumEventBytes = MemoryLayout<inotify_event>.size + 256
}

extension FolderEventQueue.Events {
    /// Removes the first event from the bytes of a queue, and appends it if it matters.
    fileprivate mutating func append(removingFirstOf bytes: inout UnsafeRawBufferPointer) {
        let event = QueuedFolderEvent(removingFirstOf: &bytes)
        if event.has(UInt32(IN_Q_OVERFLOW)) {
            isOverflow = true
            return
        }
        let kind: FolderEventQueue.Event.Kind
        if event.has(UInt32(IN_IGNORED)) {
            kind = .ended
        } else if !event.name.isEmpty, event.name.first != UInt8(ascii: ".") {
            kind = event.has(UInt32(IN_DELETE | IN_MOVED_FROM)) ? .absent : .present
        } else {
            return
        }
        events.append(
            FolderEventQueue.Event(
                watch: FolderEventQueue.Watch(number: event.watch),
                kind: kind,
                name: Array(event.name),
                isFolder: event.has(UInt32(IN_ISDIR))
            )
        )
    }
}
