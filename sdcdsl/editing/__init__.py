"""What editors ask about a policy that is being written: functions of a text and a place in it, without a protocol."""
