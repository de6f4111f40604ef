"""The inner loops of a maximum flow: find paths, send along them, find the cut. `flow` says what for.

The graph is (tail, head, start, arc) as in `Network`, the box (low, high, d) with d the flow so far. What an arc can
still carry is high - d along its direction and d - low against it.
"""

from __future__ import annotations

import numpy as np

from sdcdsl.numerics.compiled import kernel
from sdcdsl.numerics.tuning import TUNING

# For the compiled loops, which read names of their module.
FEW = TUNING.few_paths

STOPPED, CLOSED, UNBOUNDED = 0, 1, 2


@kernel
def bridge(ask, graph, box, seen, via, queues):
    """A shortest path from source to sink, without arc p, of arcs that can still carry `least`; grown from both ends.

    Returns the arc where the ends meet, the node before it, and 0, 0; or -1, which end was used up (0 source, 1 sink),
    its number of nodes, and a bound on what any path can still carry.
    """
    source, sink, p, least, stamp = ask
    tail, head, start, arc = graph
    low, high, d = box
    forth, back = queues
    seen[source], seen[sink] = stamp, stamp + 1
    forth[0], back[0] = source, sink
    done_f, done_b, count_f, count_b = 0, 0, 1, 1
    blocked_f, blocked_b = 0.0, 0.0
    weight_f, weight_b = start[source + 1] - start[source], start[sink + 1] - start[sink]
    while True:
        at_sink = weight_b < weight_f
        queue = back if at_sink else forth
        done, count = (done_b, count_b) if at_sink else (done_f, count_f)
        mine, other = (stamp + 1, stamp) if at_sink else (stamp, stamp + 1)
        blocked, weight, level = 0.0, 0, count
        while done < level:
            v = queue[done]
            done += 1
            for q in range(start[v], start[v + 1]):
                j = arc[q]
                w = tail[j] + head[j] - v
                if seen[w] == mine or j == p:
                    continue
                # from the source the path runs v → w, from the sink w → v
                slack = high[j] - d[j] if (tail[j] == v) != at_sink else d[j] - low[j]
                if slack < least:
                    blocked = max(blocked, slack)
                elif seen[w] == other:
                    return j, w if at_sink else v, 0, 0.0
                else:
                    seen[w] = mine
                    via[w] = j
                    queue[count] = w
                    count += 1
                    weight += start[w + 1] - start[w]
        if at_sink:
            done_b, count_b, weight_b, blocked_b = done, count, weight, max(blocked, blocked_b)
        else:
            done_f, count_f, weight_f, blocked_f = done, count, weight, max(blocked, blocked_f)
        if count == level:
            return -1, 1 if at_sink else 0, count, blocked_b if at_sink else blocked_f


@kernel
def beyond(end, stamp, graph, seen, queue):
    """The nodes joined to `end` without passing one marked `stamp`: the other side of a cut, as small as it can be."""
    tail, head, start, arc = graph
    queue[0] = end
    seen[end] = stamp + 2
    done, count = 0, 1
    while done < count:
        v = queue[done]
        done += 1
        for q in range(start[v], start[v + 1]):
            w = tail[arc[q]] + head[arc[q]] - v
            if seen[w] != stamp and seen[w] != stamp + 2:
                seen[w] = stamp + 2
                queue[count] = w
                count += 1
    return count


@kernel
def trace(j, v, source, sink, graph, via, path):
    """The path over arc j from node v as a list of arcs, the complement of the number for those taken backwards."""
    tail, head, _, _ = graph
    path[0] = j if tail[j] == v else -1 - j
    w = tail[j] + head[j] - v
    length = 1
    while v != source:
        i = via[v]
        path[length] = i if head[i] == v else -1 - i
        v = tail[i] + head[i] - v
        length += 1
    while w != sink:
        i = via[w]
        path[length] = i if tail[i] == w else -1 - i
        w = tail[i] + head[i] - w
        length += 1
    return length


@kernel
def layers(ask, graph, box, marks, queue, cursor):
    """Counts depths back from the sink, over arcs that can still carry `least`, until the source is found.

    Returns whether it was; if not, the number of nodes found and a bound on what any path can still carry.
    """
    source, sink, p, least, stamp = ask
    tail, head, start, arc = graph
    low, high, d = box
    seen, depth, _ = marks
    seen[sink], depth[sink], queue[0] = stamp, 0, sink
    done, count, blocked = 0, 1, 0.0
    while done < count:
        w = queue[done]
        done += 1
        for q in range(start[w], start[w + 1]):
            j = arc[q]
            v = tail[j] + head[j] - w
            if seen[v] == stamp or j == p:
                continue
            slack = high[j] - d[j] if head[j] == w else d[j] - low[j]
            if slack < least:
                blocked = max(blocked, slack)
                continue
            seen[v], depth[v], cursor[v] = stamp, depth[w] + 1, start[v]
            if v == source:
                return True, 0, 0.0
            queue[count] = v
            count += 1
    return False, count, blocked


@kernel
def flood(ask, graph, box, marks, path, cursor, record):
    """After `layers`: as much as goes down the layers, up to `want`. A node that leads nowhere is not tried again."""
    source, sink, p, least, stamp, want = ask
    tail, head, start, arc = graph
    low, high, d = box
    seen, depth, _ = marks
    brought, length, v = 0.0, 0, source
    while brought < want:
        if v == sink:
            amount = carried(path, 0, length, box, want - brought)
            brought += amount
            send(path, length, amount, d, record)
            stay = 0
            while stay < length and carried(path, stay, stay + 1, box, least) >= least:
                stay += 1
            if stay == length:  # only when `want` is brought
                break
            i = path[stay]  # the first arc that is full: go on from where it starts
            length, v = stay, tail[i] if i >= 0 else head[-1 - i]
        elif cursor[v] < start[v + 1]:
            j = arc[cursor[v]]
            w = tail[j] + head[j] - v
            ahead = tail[j] == v
            slack = high[j] - d[j] if ahead else d[j] - low[j]
            if j == p or slack < least or seen[w] != stamp or depth[w] != depth[v] - 1:
                cursor[v] += 1
                continue
            path[length] = j if ahead else -1 - j
            length += 1
            v = w
        elif v == source:
            break
        else:
            length -= 1
            i = path[length]
            v = tail[i] if i >= 0 else head[-1 - i]
            cursor[v] += 1
    return brought


@kernel
def carried(path, first, last, box, amount):
    """The most that this stretch of the path can still carry, at most `amount`."""
    low, high, d = box
    for k in range(first, last):
        i = path[k]
        amount = min(amount, high[i] - d[i] if i >= 0 else d[-1 - i] - low[-1 - i])
    return amount


@kernel
def send(path, length, amount, d, record):
    """Adds the amount along the path; arcs that change for the first time in this question go on the record."""
    mark, touched, state = record
    for k in range(length):
        i = path[k] if path[k] >= 0 else -1 - path[k]
        d[i] += amount if path[k] >= 0 else -amount
        if mark[i] != state[0]:
            mark[i] = state[0]
            touched[state[1]] = i
            state[1] += 1


@kernel
def settle(d, record, move):
    """Takes the flow out of d into `touched` and `move`, arcs without any left out; returns how many there are."""
    _, touched, state = record
    support = 0
    for k in range(state[1]):
        i = touched[k]
        if d[i] != 0:
            touched[support], move[support] = i, d[i]
            support += 1
        d[i] = 0.0
    return support


@kernel
def route(ask, graph, box, marks, lists):
    """Brings `want` from one end of p to the other, or as much as goes. d is 0 before and after.

    Returns what was reached, how it ended, the number of arcs that move, the number of nodes of the cut and whose side
    it is (1 source, -1 sink), and the last mark used.
    """
    p, sign, want, grid, stamp = ask
    seen, via, mark = marks
    forth, back, path, cursor, touched, move, state = lists
    d, record = box[2], (mark, touched, state)
    source, sink = (graph[1][p], graph[0][p]) if sign > 0 else (graph[0][p], graph[1][p])
    touched[0], mark[p], state[0], state[1] = p, stamp, stamp, 1
    status, count, toward, reached, least, searches = STOPPED, 0, 1, 0.0, want, 0
    if source == sink:  # in no equation: nothing holds it but its own bound
        reached, status = (1.0, UNBOUNDED) if want == np.inf else (want, STOPPED)
    while reached < want and status == STOPPED:
        least = min(least, want - reached)
        stamp += 3
        searches += 1
        if searches <= FEW:
            j, v, count, blocked = bridge((source, sink, p, least, stamp), graph, box, seen, via, (forth, back))
            if j >= 0:
                length = trace(j, v, source, sink, graph, via, path)
                amount = carried(path, 0, length, box, want - reached)
                if amount == np.inf:  # then this cycle alone is a ray
                    settle(d, record, move)
                    state[0], state[1] = stamp, 1
                    touched[0], mark[p] = p, stamp
                    status, amount, reached = UNBOUNDED, 1.0, 0.0
                send(path, length, amount, d, record)
                reached += amount
                continue
        else:
            v = 1  # marks as the side of the sink in `bridge`
            found, count, blocked = layers((source, sink, p, least, stamp + v), graph, box, marks, back, cursor)
            if found:
                ask_all = (source, sink, p, least, stamp + v, want - reached)
                reached += flood(ask_all, graph, box, marks, path, cursor, record)
                continue
        if blocked > 0 and least > grid:
            least = max(grid, blocked / 4)
            continue
        status, toward = CLOSED, 1 - 2 * v
        if seen[len(seen) - 1] == stamp + v:  # the ground has no equation: take the other side
            count = beyond(sink if v == 0 else source, stamp + v, graph, seen, back if v == 0 else forth)
            toward = -toward
    d[p] = sign * reached
    return reached, status, settle(d, record, move), count, toward, stamp
